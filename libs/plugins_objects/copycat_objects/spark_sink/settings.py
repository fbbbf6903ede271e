"""SparkSink: what it is called and how it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.config import (
    HIGH,
    LONG,
    LOW,
    MEDIUM,
    Password,
    at_least,
    non_empty,
    one_of,
)
from copycat_connect.config.settings import Settings, key, nested, shared_key
from copycat_connect.errors import ConfigError

from copycat_objects.keys import NULL_VALUES, PARTITION_FIELDS
from copycat_objects.lakehouse.settings import ICEBERG, CatalogSettings
from copycat_objects.stores import keys
from copycat_objects.stores.keys import STORE_URL
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store

CLASS_NAME: Final = "copycat_objects.spark_sink.connector.SparkSinkConnector"
TASK_CLASS_NAME: Final = "copycat_objects.spark_sink.task.SparkTableTask"
DELTA, PARQUET, ORC = "delta", "parquet", "orc"
#: Formats of files that no log of a table names.
FILES: Final = (PARQUET, ORC)
INSERT, UPSERT, RECORD_KEY = "insert", "upsert", "record_key"
PK_MODE, PK_FIELDS, DELETE_ENABLED = "pk.mode", "pk.fields", "delete.enabled"
FORMAT: Final = "format"
COMPACT_VERSIONS: Final = "compact.versions"
FLUSH_SIZE, INTERVAL = "flush.size", "commit.interval.ms"
_SCHEMES: Final = ("file://", "/", "s3://")
_HDFS_SCHEMES: Final = ("hdfs://", "webhdfs://")

SUMMARY: Final = (
    "Writes records to a table of Delta Lake or Apache Iceberg, or to a folder of Parquet or ORC files, or "
    "changes a table of Delta Lake by key: Spark reads ranges of topics and writes them in as many "
    "partitions at once as tasks.max says, and each round of them is one version of the table."
)
GUARANTEES: Final = (
    "Exactly once, and at least once (delivery.guarantee), not at most once: in both the table has the "
    "position of each topic-partition in the commit that adds its records, in Delta Lake as the version of "
    "an application transaction, in Iceberg in a property, a folder of files in its commit log, and reading "
    "goes on there whatever the consumer group says. A task that begins commits a number of its own, after "
    "which no earlier one can commit. Two connectors with one name, in different clusters, cannot write one "
    "table. Its one task runs in a driver of Spark: a process with a JVM, on the machine of its worker; its "
    "partitions run there, or on a Spark cluster (worker property spark.drivers.master). A topic-partition "
    "with many records is divided among partitions of Spark: rows of a table have no order. With "
    "insert.mode=upsert the task itself merges what a round has into the table, in memory; of records with "
    "one key the one with the highest offset counts, so that records of one key have to be in one "
    "topic-partition. Values are structs, or become the column value; they need a schema. Columns have the "
    "types of Connect's schema: all may be null, times of day are int in Delta Lake (ms since midnight), "
    "timestamps have microseconds. A field that the table does not have becomes a column; a value whose "
    "type is another one than that of its column is converted where nothing is lost, and else cannot be "
    "written, as one without a schema. Files that no version has are left where a partition was lost: "
    "VACUUM removes them, in Iceberg remove_orphan_files. Of Iceberg, tables divided by other than columns "
    "as they are cannot be written, snapshots expire where somebody has them expire (expire_snapshots), and "
    "each version makes the table's metadata longer: give commit.interval.ms a minute or more. With "
    "format=parquet and orc all else holds for a folder of files: column=value/part-<number>.parquet, with "
    "names of folders as Hive has them, which whoever lists them reads (Spark, DuckDB, pyarrow). Each file "
    "appears whole, after an entry of the commit log that names all of its round; after a crash the next "
    "task has the rest appear. The log, and files that are not committed, which the next task deletes, are "
    "in the folder _copycat: leave it there, and have readers leave out what begins with _, or read "
    "*.parquet. A later file may have more columns: read them by name (union_by_name of DuckDB, mergeSchema "
    "of Spark). Times of day have microseconds in Parquet, and are int in ORC; an empty text is a folder as "
    "null is. Small files are not compacted: who reads meanwhile would see their rows twice, or not at all."
)


class SparkSinkSettings(Settings):
    """Which table is written, and how often."""

    format: str = key(
        HIGH,
        default=DELTA,
        check=one_of(DELTA, ICEBERG, *FILES),
        doc="Format of the table: delta (Delta Lake), for which the worker needs the Python package "
        "deltalake; iceberg (Apache Iceberg), which needs pyiceberg, a catalog and iceberg.table; or parquet "
        "or orc, for files in folders without a table.",
    )
    store_url: str = key(
        HIGH,
        check=non_empty,
        doc="Where the table is: file:///folder, which every worker sees, or s3://bucket/prefix; files also "
        "hdfs://host:port/folder or webhdfs://host:port/folder.",
    )
    prefix: str = key(
        HIGH,
        default="",
        doc="Folder of the table, below the store's address. A table that is missing is made, for iceberg in "
        "the catalog, too; one that the catalog has has to be in this folder.",
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
        name=INTERVAL,
        type=LONG,
        default=10_000,
        check=at_least(1),
        read=lambda millis: millis / 1000,
        doc="Milliseconds between two versions of the table while few records come: the longer, the fewer "
        "and larger its files.",
    )
    flush_size: int = key(
        MEDIUM,
        name=FLUSH_SIZE,
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
        doc="Compression of the files; what is gzip in Parquet is zlib in ORC.",
    )

    iceberg: CatalogSettings = nested()
    webhdfs_url: str | None = shared_key(keys.WEBHDFS_URL_KEY)
    hdfs_user: str | None = shared_key(keys.HDFS_USER_KEY)
    hadoop_conf_dir: str = shared_key(keys.HADOOP_CONF_KEY)
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
            ConfigError: They do not.
        """
        self._check_place()
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
        if self.format == ICEBERG:
            self._check_iceberg()
        if self.format in FILES:
            self._check_files()

    def _check_place(self) -> None:
        url = self.store_url.strip()
        if url.startswith(_SCHEMES) or (self.format in FILES and url.startswith(_HDFS_SCHEMES)):
            return
        expected = "file:///folder or s3://bucket/prefix"
        if url.startswith(_HDFS_SCHEMES):
            expected += f"; in HDFS files are written, with {FORMAT}={PARQUET} or {ORC}, and no tables"
        elif self.format in FILES:
            expected = (
                f"file:///folder, hdfs://host:port/folder or s3://bucket/prefix with {FORMAT}={self.format}"
            )
        raise ConfigError(f"Invalid value for configuration {STORE_URL}: expected {expected}", key=STORE_URL)

    def _check_files(self) -> None:
        if self.insert_mode == UPSERT:
            raise ConfigError(
                f"insert.mode={UPSERT} needs {FORMAT}={DELTA}: files of {self.format} without a table are "
                f"only added; set insert.mode={INSERT}, or {FORMAT}={DELTA}",
                key="insert.mode",
            )
        if self.compact_versions:
            raise ConfigError(
                f"{COMPACT_VERSIONS} needs {FORMAT}={DELTA}: who lists files of {self.format} while small "
                f"ones are replaced would see rows twice or not at all; set it to 0, and {FLUSH_SIZE} and "
                f"{INTERVAL} so that files are large",
                key=COMPACT_VERSIONS,
            )

    def _check_iceberg(self) -> None:
        self.iceberg.check()
        if self.insert_mode == UPSERT:
            raise ConfigError(
                f"insert.mode={UPSERT} needs {FORMAT}={DELTA}: rows of Iceberg tables are appended; "
                "pyiceberg takes a quarter of an hour to change a million rows by key",
                key="insert.mode",
            )
        if self.compact_versions:
            raise ConfigError(
                f"{COMPACT_VERSIONS} needs {FORMAT}={DELTA}: have an engine of queries compact Iceberg "
                "tables (rewrite_data_files of Spark, optimize of Trino)",
                key=COMPACT_VERSIONS,
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
    "Files of Parquet in HDFS, a folder for each country": {
        "tasks.max": "2",
        "topics": "orders",
        "format": "parquet",
        "store.url": "hdfs://namenode:9000",
        "prefix": "landing/orders",
        "partition.field.name": "country",
        "commit.interval.ms": "60000",
    },
    "A table of Iceberg, whose catalog is in PostgreSQL": {
        "tasks.max": "2",
        "topics": "orders",
        "store.url": "s3://lake",
        "prefix": "tables/orders",
        "s3.region": "eu-central-1",
        "format": "iceberg",
        "iceberg.table": "shop.orders",
        "iceberg.catalog.uri": "postgresql+psycopg://lake:${env:LAKE_SECRET}@db.example/catalog",
        "commit.interval.ms": "60000",
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
