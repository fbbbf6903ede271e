"""SparkSource: what it is called and how it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config import (
    HIGH,
    LONG,
    LOW,
    MEDIUM,
    at_least,
    matches_java_regex,
    non_empty,
    one_of,
    topic_name,
)
from copycat_connect.config.settings import Settings, key, shared_key, taken_from
from copycat_connect.plugin import ROW_QUERY_KEYS, RowQuery

from copycat_objects.source.settings import CleanupPolicy
from copycat_objects.stores import keys

CLASS_NAME: Final = "copycat_objects.spark.connector.SparkSourceConnector"
TASK_CLASS_NAME: Final = "copycat_objects.spark.task.SparkFilesTask"
OPTION: Final = "spark.option."
PARQUET, TEXT, DELTA = "parquet", "text", "delta"
FORMATS: Final = (PARQUET, "orc", "csv", "json", TEXT, DELTA)
FAIL, SKIP = "fail", "skip"
ANY_PATH: Final = ".*"

SUMMARY: Final = (
    "Reads files of a folder or of HDFS with Spark, in as many partitions at once as tasks.max says, and "
    "goes on as new files come: Parquet, ORC, CSV, JSON and lines of text, with Spark's own options; and "
    "tables of Delta Lake, as rows are added to them."
)
GUARANTEES: Final = (
    "At least once; also exactly once (delivery.guarantee), not at most once. Its one task runs in a driver "
    "of Spark: a process with a JVM, on the machine of its worker; its partitions run there, or on a Spark "
    "cluster (worker property spark.drivers.master). Each file is a source partition {store, path}, read in "
    "one partition of Spark; the source offset {record, size, modified, done} says how many of its records "
    "are committed. Small files with the same columns are read together, up to 16 MiB, each with its own "
    "offset; exactly once, in one transaction, a large file in several. Order: that of a file; files are "
    "read side by side. A file that is written anew is read anew. Values are structs, of text the lines; "
    "those of Parquet have the types of the file, as ObjectSource has them and byte for byte what it sends, "
    "save that Spark reads no times of day in milliseconds (TIME_MILLIS, as ObjectSink writes them), which "
    "fail the task, and that sql sees moments in nanoseconds as numbers; others what Spark makes of them, "
    "every field optional. A file that Spark cannot read fails the task. Files whose names begin with . or "
    "_, and those in folders named +tmp, are not read. sql and the expressions see the columns of a file, of "
    "text the column value, and Spark's hidden column _metadata, e.g. _metadata.file_name; expressions also "
    "see the names that sql gives with AS. What they make has Spark's types; the record of an offset counts "
    "all rows of the file. Exactly once, what differs each time, as rand() and now() do, is refused. A row "
    "for which they fail, as a CAST of what is no number, fails the task: try_cast and its like give null. "
    "Transformations by SQL do not run here. Of a Delta table the files of the first version are read, then "
    "those that each later version adds, whatever maintenance makes of them; the source partition {store, "
    "table} has the offset {version, done}: whether the version is read, or has begun to be. Every field is "
    "optional; a column that is added later is null before. Tables with deletion vectors in use or mapped "
    "columns are refused."
)


def _options(config: Config) -> Mapping[str, str]:
    """Return the options of Spark's reader, by the names that Spark has for them."""
    return {
        name.removeprefix(OPTION): value
        for name, value in config.items()
        if name.startswith(OPTION) and value is not None
    }


class SparkSourceSettings(Settings):
    """Which files are read, as what."""

    topic: str = key(HIGH, check=topic_name, doc="Topic that receives the records.")
    format: str = key(
        HIGH,
        check=one_of(*FORMATS),
        doc="Format of the files: parquet, orc, csv, json (one value a line), text (one record a line); or "
        "delta, for the Delta table in the folder prefix. "
        f"Keys that begin with {OPTION} are options of Spark's reader, e.g. {OPTION}header=true.",
    )
    store_url: str = key(
        HIGH,
        check=non_empty,
        doc="Where the files are: file:///folder, hdfs://host:port/folder or webhdfs://host:port/folder.",
    )
    prefix: str = key(MEDIUM, default="", doc="Only files in this folder, or further below.")
    pattern: str = key(
        MEDIUM,
        default=ANY_PATH,
        check=matches_java_regex,
        doc="Regular expression for the whole path of a file below the store's address.",
    )
    poll_seconds: float = key(
        MEDIUM,
        name="object.poll.interval.ms",
        type=LONG,
        default=10_000,
        check=at_least(1),
        read=lambda millis: millis / 1000,
        doc="Milliseconds between two looks for new files.",
    )
    min_age_millis: int = key(
        LOW,
        name="object.min.age.ms",
        type=LONG,
        default=0,
        check=at_least(0),
        doc="How many milliseconds a file must have been left alone before it is read.",
    )
    delta_changes: str = key(
        MEDIUM,
        default=FAIL,
        check=one_of(FAIL, SKIP),
        doc="What becomes of a version of a Delta table that changes or deletes rows: fail the task, or skip "
        "the version with the rows that it adds.",
    )
    query: RowQuery | None = taken_from(RowQuery.of, keys=ROW_QUERY_KEYS)
    webhdfs_url: str | None = shared_key(keys.WEBHDFS_URL_KEY)
    hdfs_user: str | None = shared_key(keys.HDFS_USER_KEY)
    options: Mapping[str, str] = taken_from(_options)

    @property
    def cleanup_policy(self) -> CleanupPolicy:
        """What becomes of files that were read: nothing."""
        return CleanupPolicy.NONE

    @property
    def cleanup_folder(self) -> str:
        """Where they are moved to: nowhere."""
        return ""


EXAMPLES: Final = {
    "Parquet files of a folder, four at a time": {
        "tasks.max": "4",
        "topic": "orders",
        "store.url": "file:///data/landing",
        "format": "parquet",
        "pattern": r"orders/.*\.parquet",
    },
    "CSV files of HDFS with a header, typed by Spark": {
        "tasks.max": "8",
        "topic": "deliveries",
        "store.url": "hdfs://namenode:9000/deliveries",
        "format": "csv",
        "spark.option.header": "true",
        "spark.option.inferSchema": "true",
    },
    "Rows as they are added to a Delta table": {
        "tasks.max": "4",
        "topic": "orders",
        "store.url": "file:///data/lake",
        "prefix": "tables/orders",
        "format": "delta",
    },
    "Paid orders with a key, a topic for each country and a header, by SQL": {
        "tasks.max": "2",
        "topic": "orders",
        "store.url": "file:///data/landing",
        "format": "parquet",
        "sql": "SELECT id, upper(country) AS country, price * amount AS total FROM records WHERE paid",
        "key.expression": "id",
        "topic.expression": "concat('orders-', lower(country))",
        "headers.expression.file": "_metadata.file_name",
    },
}
