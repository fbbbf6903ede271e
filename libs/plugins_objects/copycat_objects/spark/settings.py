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
    Password,
    at_least,
    matches_java_regex,
    one_of,
    topic_name,
)
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import ROW_QUERY_KEYS, RowQuery

from copycat_objects.lakehouse.settings import ICEBERG, CatalogSettings
from copycat_objects.source.settings import CleanupPolicy
from copycat_objects.spark.databases import DatabaseTable
from copycat_objects.spark.key_ranges import TableKeys
from copycat_objects.spark.python_sources import CLASS_PATH
from copycat_objects.stores import keys

CLASS_NAME: Final = "copycat_objects.spark.connector.SparkSourceConnector"
TASK_CLASS_NAME: Final = "copycat_objects.spark.task.SparkFilesTask"
OPTION: Final = "spark.option."
PARQUET, TEXT, DELTA, JDBC = "parquet", "text", "delta", "jdbc"
FORMATS: Final = (PARQUET, "orc", "csv", "json", TEXT, DELTA, ICEBERG, JDBC)
TABLES: Final = (DELTA, ICEBERG)
"""Formats whose tables say which files they have."""
SCHEMES: Final = ("file://", "/", "hdfs://", "webhdfs://")
"""What addresses begin with that Spark reads without further libraries."""
PARTITION_COLUMN: Final = "jdbc.partition.column"
#: Options of Spark's JDBC reader that divide what it reads, which ranges of keys do.
_DIVIDING: Final = frozenset({"partitioncolumn", "lowerbound", "upperbound", "numpartitions"})
FAIL, SKIP = "fail", "skip"
ANY_PATH: Final = ".*"

SUMMARY: Final = (
    "Reads files of a folder or of HDFS with Spark, in as many partitions at once as tasks.max says, and "
    "goes on as new files come: Parquet, ORC, CSV, JSON and lines of text, with Spark's own options; and "
    "tables of Delta Lake and Apache Iceberg, as rows are added to them, of databases, by ranges of a key, "
    "and what Python data sources of other packages read."
)
GUARANTEES: Final = (
    "At least once; also exactly once (delivery.guarantee), not at most once. Its one task runs in a driver"
    " of Spark: a process with a JVM, on the machine of its worker; its partitions run there, or on a Spark"
    " cluster (worker property spark.drivers.master). Each file is a source partition {store, path}, read "
    "in one partition of Spark; the source offset {record, size, modified, done} says how many of its "
    "records are committed. Small files with the same columns are read together, up to 16 MiB, each with "
    "its own offset; exactly once, in one transaction, a large file in several. Order: that of a file; "
    "files are read side by side. A file that is written anew is read anew. Values are structs, of text the"
    " lines; those of Parquet have the types of the file, as ObjectSource has them and byte for byte what "
    "it sends, save that Spark reads no times of day in milliseconds (TIME_MILLIS, as ObjectSink writes "
    "them), which fail the task, and that sql sees moments in nanoseconds as numbers; others what Spark "
    "makes of them, every field optional. Moments are Connect's, in milliseconds: what is finer is cut. A "
    "file that Spark cannot read fails the task. Files whose names "
    "begin with . or _, and those in folders named +tmp or _copycat, are not read. sql and the expressions "
    "see the columns of a file, of text the column value, and Spark's hidden column _metadata, e.g. "
    "_metadata.file_name; expressions also see the names that sql gives with AS. What they make has Spark's"
    " types; the record of an offset counts all rows of the file. Exactly once, what differs each time, as "
    "rand() and now() do, is refused. A row for which they fail, as a CAST of what is no number, fails the "
    "task: try_cast and its like give null. Transformations by SQL do not run here. Of a Delta table the "
    "files of the first version are read, then those that each later version adds, whatever maintenance "
    "makes of them; the source partition {store, table} has the offset {version, done}: whether the version"
    " is read, or has begun to be. Every field is optional; a column that is added later is null before. "
    "Tables with deletion vectors in use or mapped columns are refused. An Iceberg table is read likewise, "
    "snapshot by snapshot: the offset {snapshot, done} has the id as a text. Columns have the names and "
    "types of the snapshot that added the file, whatever they were called when it was written; a rewrite of"
    " files (replace) gives no record. Refused are snapshots that were expired before they were read, "
    "tables with delete files in the snapshot with which reading begins, files outside of store.url or "
    "other than Parquet, and types in nanoseconds. A table of a database is read in ranges of a key, whose "
    "rows are sorted by it and by the other columns, above the keys that were read before: a plan of ranges"
    " is committed first, as the offset of the source partition {table}, so that a restart has the same. "
    "Exactly once holds for rows that stay as they are: of a range that was read in part when its driver "
    "was lost, the rest is counted from its beginning, so that rows that were meanwhile added below or "
    "deleted shift it, and changed rows may come in either form. Rows are those of several transactions of "
    "the database, one for each range. The class of a Python data source is loaded from a package that is "
    "installed for the workers and, where there is one, on the Spark cluster. Each partition that its "
    "reader gives is a source partition {source, partition}, known by its text (repr), which has to be the "
    "same each time, so without sets; new ones are looked for. Partitions are read side by side, each in "
    "one transaction, exactly once, so that what was read in part counts for nothing and is read again. One"
    " that takes more than ten minutes is committed in parts, and its rows have to be the same, in the same"
    " order, when it is read again, as they have for at least once."
)


def _format(name: str, value: ConfigSetting) -> None:
    """Accept a format that is known here, or the name of a class.

    Raises:
        ConfigError: It is another text.
    """
    if value not in FORMATS and not CLASS_PATH.fullmatch(str(value)):
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: expected {', '.join(FORMATS)}, or the class of "
            "a Python data source, package.module.Class",
            key=name,
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
        check=_format,
        doc="Format of the files: parquet, orc, csv, json (one value a line), text (one record a line); "
        "delta, for the Delta table in the folder prefix; iceberg, for the table of Apache Iceberg in "
        "iceberg.table, which needs the Python package pyiceberg and a catalog; jdbc, for a table of a "
        "database; or a class derived from pyspark.sql.datasource.DataSource, e.g. "
        "acme_lab.sources.Measurements. "
        f"Keys that begin with {OPTION} are options of Spark's reader, e.g. {OPTION}header=true.",
    )
    store_url: str = key(
        HIGH,
        default="",
        doc="Where the files are: file:///folder, hdfs://host:port/folder or webhdfs://host:port/folder. "
        "Needed for files and tables of them; for iceberg a folder that has all files of the table, in HDFS "
        "also those of its metadata.",
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
        doc="Milliseconds between two looks for new files, versions, snapshots or partitions.",
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
    iceberg: CatalogSettings = nested()
    iceberg_changes: str = key(
        MEDIUM,
        default=FAIL,
        check=one_of(FAIL, SKIP),
        doc="What becomes of a snapshot of an Iceberg table that changes or deletes rows: fail the task, or "
        "skip the snapshot with the rows that it adds.",
    )
    follows_snapshots: bool = key(
        MEDIUM,
        name="iceberg.follow",
        default=True,
        doc="Whether later snapshots of an Iceberg table are read, or only the newest at the beginning.",
    )
    partition_column: str = key(
        HIGH,
        name=PARTITION_COLUMN,
        default="",
        doc="Column of the table by whose ranges it is read: whole numbers, decimals, dates or timestamps, "
        "none null, best an indexed key.",
    )
    unit_rows: int = key(
        MEDIUM,
        name="jdbc.unit.rows",
        default=100_000,
        check=at_least(1),
        doc="About how many rows a range has, as far as keys are spread evenly: Spark reads and sorts "
        "them at once.",
    )
    follows: bool = key(
        MEDIUM,
        name="jdbc.follow",
        default=False,
        doc="Whether to look for rows with higher keys again and again (object.poll.interval.ms). Rows that "
        "come with a lower key than one that was read, e.g. of a transaction that was longer, are not found.",
    )
    database_url: str = key(
        HIGH,
        name=f"{OPTION}url",
        default="",
        doc="Address of the database, as its driver has it: jdbc:postgresql://host:5432/database. Put no "
        "password there.",
    )
    database_driver: str = key(
        HIGH,
        name=f"{OPTION}driver",
        default="",
        doc="Class of its JDBC driver, e.g. org.postgresql.Driver, whose jar the worker property "
        "spark.jars names.",
    )
    database_table: str = key(
        HIGH, name=f"{OPTION}dbtable", default="", doc="The table, as SQL of the database names it."
    )
    database_query: str = key(
        HIGH, name=f"{OPTION}query", default="", doc="A SELECT in place of a table, whose rows are read."
    )
    database_user: str = key(HIGH, name=f"{OPTION}user", default="", doc="Whom to be at the database.")
    database_password: Password | None = key(
        HIGH, name=f"{OPTION}password", default=None, doc="The password of that user; it is never shown."
    )
    query: RowQuery | None = taken_from(RowQuery.of, keys=ROW_QUERY_KEYS)
    webhdfs_url: str | None = shared_key(keys.WEBHDFS_URL_KEY)
    hdfs_user: str | None = shared_key(keys.HDFS_USER_KEY)
    options: Mapping[str, str] = taken_from(_options)

    @property
    def database(self) -> DatabaseTable:
        """The table of a database."""
        options = {name: value for name, value in self.options.items() if value}
        return DatabaseTable(options, self.partition_column, self.unit_rows, self.follows)

    def table_keys(self) -> TableKeys:
        """Return what plans its ranges."""
        table = self.database_table or self.database_query
        return TableKeys(table, self.topic, follows=self.follows, poll_seconds=self.poll_seconds)

    @property
    def is_python(self) -> bool:
        """Whether the format is a class of a Python data source."""
        return self.format not in FORMATS

    def check_database(self) -> None:
        """Accept settings that work together for a table of a database.

        Raises:
            ConfigError: They do not.
        """
        needed = {
            PARTITION_COLUMN: self.partition_column,
            f"{OPTION}url": self.database_url,
            f"{OPTION}driver": self.database_driver,
            f"{OPTION}dbtable": self.database_table or self.database_query,
        }
        for name, value in needed.items():
            if not value:
                raise ConfigError(f"format={JDBC} needs {name}", key=name)
        if self.database_table and self.database_query:
            raise ConfigError(f"Set one of {OPTION}dbtable and {OPTION}query, not both", key=f"{OPTION}query")
        for name in self.options:
            if name.lower() in _DIVIDING:
                raise ConfigError(
                    f"Leave out {OPTION}{name}: {PARTITION_COLUMN} and jdbc.unit.rows divide the table",
                    key=f"{OPTION}dbtable",
                )

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
    "Rows as they are added to an Iceberg table, whose catalog is a service": {
        "tasks.max": "4",
        "topic": "orders",
        "store.url": "file:///data/lake",
        "format": "iceberg",
        "iceberg.table": "shop.orders",
        "iceberg.catalog.type": "rest",
        "iceberg.catalog.uri": "https://catalog.example",
        "iceberg.catalog.token": "${env:CATALOG_TOKEN}",
    },
    "A table of a database, four ranges of its key at a time, then rows as they are added": {
        "tasks.max": "4",
        "topic": "orders",
        "format": "jdbc",
        "spark.option.url": "jdbc:postgresql://db.example:5432/shop",
        "spark.option.driver": "org.postgresql.Driver",
        "spark.option.dbtable": "orders",
        "spark.option.user": "reader",
        "spark.option.password": "${env:DB_SECRET}",
        "jdbc.partition.column": "id",
        "jdbc.follow": "true",
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
