"""SparkSink: what it is called and how it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from copycat_connect.config import HIGH, LONG, LOW, MEDIUM, Password, at_least, non_empty, one_of
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.errors import ConfigError

from copycat_objects.keys import NULL_VALUES, PARTITION_FIELDS
from copycat_objects.stores import keys
from copycat_objects.stores.keys import STORE_URL
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store

CLASS_NAME: Final = "copycat_objects.spark_sink.connector.SparkSinkConnector"
TASK_CLASS_NAME: Final = "copycat_objects.spark_sink.task.SparkTableTask"
DELTA: Final = "delta"
INSERT, UPSERT, RECORD_KEY = "insert", "upsert", "record_key"
PK_MODE, PK_FIELDS, DELETE_ENABLED = "pk.mode", "pk.fields", "delete.enabled"
_FORMAT: Final = "format"
_LIBRARY: Final = "deltalake"
_SCHEMES: Final = ("file://", "/", "s3://")

SUMMARY: Final = (
    "Writes records to a table of Delta Lake, or changes it by key: Spark reads ranges of topics and "
    "writes them in as many partitions at once as tasks.max says, and each round of them is one version "
    "of the table."
)
GUARANTEES: Final = (
    "Exactly once, and at least once (delivery.guarantee), not at most once: in both the table's log has "
    "the position of each topic-partition in the commit that adds its records, as the version of an "
    "application transaction, and reading goes on there whatever the consumer group says. A task that "
    "begins commits a number of its own, after which no earlier one can commit. Two connectors with one "
    "name, in different clusters, cannot write one table. Its one task runs in a driver of Spark: a "
    "process with a JVM, on the machine of its worker; its partitions run there, or on a Spark cluster "
    "(worker property spark.drivers.master). A topic-partition with many records is divided "
    "among partitions of Spark: rows of a table have no order. With insert.mode=upsert the task itself "
    "merges what a round has into the table, in memory; of records with one key the one with the highest "
    "offset counts, so that records of one key have to be in one topic-partition. Values are structs, or "
    "become the column value; they need a schema. Columns have the types of Connect's schema: all may be "
    "null, times of day are int (ms since midnight), timestamps have microseconds. A field that the table "
    "does not have becomes a column; a value whose type is another one than that of its column is "
    "converted where nothing is lost, and else cannot be written, as one without a schema. Files that no "
    "version has are left where a partition was lost: VACUUM removes them."
)


class SparkSinkSettings(Settings):
    """Which table is written, and how often."""

    format: str = key(
        HIGH,
        default=DELTA,
        check=one_of(DELTA),
        doc=f"Format of the table: delta, for which the worker needs the Python package {_LIBRARY}.",
    )
    store_url: str = key(
        HIGH,
        check=non_empty,
        doc="Where the table is: file:///folder, which every worker sees, or s3://bucket/prefix.",
    )
    prefix: str = key(
        HIGH,
        default="",
        doc="Folder of the table, below the store's address. A table that is missing is made.",
    )
    partition_by: tuple[str, ...] = key(
        MEDIUM,
        name=PARTITION_FIELDS,
        default=(),
        doc="Fields of the value, by whose contents the files of a new table are divided: texts, integers, "
        "booleans and dates. A table that is there has its own.",
    )
    interval_seconds: float = key(
        MEDIUM,
        name="commit.interval.ms",
        type=LONG,
        default=10_000,
        check=at_least(1),
        read=lambda millis: millis / 1000,
        doc="Milliseconds between two versions of the table while few records come: the longer, the fewer "
        "and larger its files.",
    )
    flush_size: int = key(
        MEDIUM,
        default=500_000,
        check=at_least(1),
        doc="Records that a partition of Spark writes at once, at most; so many that wait are written "
        "without regard to commit.interval.ms.",
    )
    compact_versions: int = key(
        LOW,
        default=0,
        check=at_least(0),
        doc="After how many versions of its own the task rewrites the table's small files as larger ones, "
        "which takes as long as that takes; 0 for never. VACUUM removes the small ones later.",
    )
    null_values: str = key(
        LOW,
        name=NULL_VALUES,
        default="fail",
        check=one_of("fail", "ignore"),
        doc="Records without a value: fail (reported as errors), or ignore.",
    )
    insert_mode: str = key(
        HIGH,
        default=INSERT,
        check=one_of(INSERT, UPSERT),
        doc="What becomes of a record: insert appends a row, upsert also changes the one with its key.",
    )
    pk_mode: str = key(
        MEDIUM,
        name=PK_MODE,
        default=RECORD_KEY,
        check=one_of(RECORD_KEY, "record_value"),
        doc="Where upsert finds the key of a row: record_key or record_value.",
    )
    pk_fields: tuple[str, ...] = key(
        MEDIUM,
        name=PK_FIELDS,
        default=(),
        doc="Fields that make the key of a row, or the name of the column for a record's key that is no "
        "struct; upsert needs them.",
    )
    delete_enabled: bool = key(
        MEDIUM,
        name=DELETE_ENABLED,
        default=False,
        doc="Whether a record without a value deletes the row with its key; needs upsert with record_key.",
    )
    parquet_codec: str = key(
        LOW,
        default="snappy",
        check=one_of("none", "snappy", "gzip", "zstd"),
        doc="Compression of the table's Parquet files.",
    )

    s3_region: str = shared_key(keys.REGION_KEY)
    s3_part_size: int = shared_key(keys.PART_SIZE_KEY)
    s3_part_retries: int = shared_key(keys.PART_RETRIES_KEY)
    aws_access_key_id: str = shared_key(keys.ACCESS_KEY_KEY)
    aws_secret_access_key: Password = shared_key(keys.SECRET_KEY_KEY)
    s3_endpoint: str | None = shared_key(keys.ENDPOINT_KEY)
    s3_path_style_access_enabled: bool = shared_key(keys.PATH_STYLE_KEY)

    def check(self) -> None:
        """Accept settings that work together.

        Raises:
            ConfigError: They do not, or a library is missing.
        """
        if not self.store_url.strip().startswith(_SCHEMES):
            raise ConfigError(
                f"Invalid value for configuration {STORE_URL}: expected file:///folder or s3://bucket/prefix",
                key=STORE_URL,
            )
        self.open_store().close()
        is_upsert = self.insert_mode == UPSERT
        if is_upsert and not self.pk_fields:
            raise ConfigError(
                f"insert.mode={UPSERT} needs the fields of the key in {PK_FIELDS}", key=PK_FIELDS
            )
        if self.delete_enabled and not (is_upsert and self.pk_mode == RECORD_KEY):
            raise ConfigError(
                f"{DELETE_ENABLED}=true needs insert.mode={UPSERT} and {PK_MODE}={RECORD_KEY}",
                key=DELETE_ENABLED,
            )
        if find_spec(_LIBRARY) is None:
            raise ConfigError(
                f"Invalid value {self.format} for configuration {_FORMAT}: this worker does not have the "
                f"Python package {_LIBRARY}, which commits tables; install it (pip install {_LIBRARY})",
                key=_FORMAT,
            )

    def open_store(self) -> Store:
        """Open the store with the table's files.

        Raises:
            ConfigError: The address is no folder.
        """
        return open_store(self.values_by_key(), self.store_url)


EXAMPLES: Final[Mapping[str, Mapping[str, str]]] = {
    "A table of orders, two partitions at once": {
        "tasks.max": "2",
        "topics": "orders",
        "store.url": "file:///data/lake",
        "prefix": "tables/orders",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    },
    "A table in S3": {
        "tasks.max": "2",
        "topics": "orders",
        "store.url": "s3://lake",
        "prefix": "tables/orders",
        "s3.region": "eu-central-1",
        "aws.access.key.id": "writer",
        "aws.secret.access.key": "${env:S3_SECRET}",
    },
    "A table that follows a topic: changed and deleted by key": {
        "topics": "customers",
        "delivery.guarantee": "exactly_once",
        "store.url": "file:///data/lake",
        "prefix": "tables/customers",
        "insert.mode": "upsert",
        "delete.enabled": "true",
        "pk.fields": "id",
    },
    "Divided by country, exactly once, a version a minute": {
        "tasks.max": "4",
        "topics": "orders",
        "delivery.guarantee": "exactly_once",
        "store.url": "file:///data/lake",
        "prefix": "tables/orders_by_country",
        "partition.field.name": "country",
        "commit.interval.ms": "60000",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "orders-unwritten",
    },
}
