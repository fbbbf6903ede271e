"""SparkQuery: what it is called and how it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config import (
    CLASS,
    HIGH,
    LOW,
    MEDIUM,
    at_least,
    between,
    distinct_names,
    non_empty,
    non_empty_list,
    one_of,
    topic_name,
)
from copycat_connect.config.settings import Settings, key, seconds_key, taken_from
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import (
    INPUT_COLUMNS,
    INPUT_TOPICS,
    KEY_EXPRESSION,
    STATE_URL,
    TABLES,
    TOPIC_EXPRESSION,
    WATERMARK_COLUMN,
    WATERMARK_DELAY,
    RowQuery,
    columns_of_topics,
    topic_tables,
)

from copycat_objects.spark_query.side_tables import PREFIX, SideTable, side_tables

CLASS_NAME: Final = "copycat_objects.spark_query.connector.SparkQueryConnector"
TASK_CLASS_NAME: Final = "copycat_objects.spark_query.task.SparkQueryTask"
APPEND, UPDATE = "append", "update"
#: Transactional ids that the partitions of a state may have; the last one is for the query as a whole.
MOST_STATE_PARTITIONS: Final = 63
_SCHEMES: Final = ("file:///", "hdfs://")

SUMMARY: Final = (
    "Reads topics, runs SQL over their records with Spark, and writes what it gives to topics: filters and "
    "projections record by record, or, with state.url, windows, aggregates, joins of topics and "
    "de-duplication; both may join tables: files, Delta Lake, Iceberg and databases."
)
GUARANTEES: Final = (
    "At least once; also exactly once (delivery.guarantee), not at most once. Its one task runs in a driver "
    "of Spark. It reads committed records only, without a consumer group. Without state.url each partition "
    "of a topic is a source partition {topic, partition}, whose offset {offset} is that of the next record; "
    "tasks.max partitions are read at a time, and the order of a partition is kept unless topic.expression "
    "divides it. With state.url Spark keeps state in that folder; the source partition {query} has the "
    "offset {epoch, batch, TOPIC-PARTITION ...}: which state counts, and where each partition goes on. "
    "Partitions {slot} say what each part of the state has written. A state that is gone, or does not agree "
    "with the offset, fails the task; resetting the offsets begins with an empty one, and so do other "
    "positions. Exactly once, what differs each time, as rand() and now() do, is refused. Records join a "
    "table as it was when it was last read, before them; while it cannot be read they wait. What is repeated "
    "after a failure may meet a newer table: the rows of a record arrive once all the same, but with "
    "state.url those parts of the state that had written a batch keep what they gave with the older one. "
    "Without state.url a record that several rows of a table match fails the task. So does a topic that was "
    "deleted and made anew, until the offsets are reset or altered."
)


def _table_keys(config: Config) -> Mapping[str, str]:
    """Return what is said of tables."""
    return {key: value for key, value in config.items() if key.startswith(PREFIX) and value is not None}


class SparkQuerySettings(Settings):
    """Which topics are read, and what is made of them."""

    input_topics: tuple[str, ...] = key(
        HIGH, name=INPUT_TOPICS, check=non_empty_list, doc="Topics that are read."
    )
    input_columns: str | None = key(
        HIGH,
        default=None,
        check=non_empty,
        doc="Columns of the table records, as in CREATE TABLE: id BIGINT, price DECIMAL(10,2), at TIMESTAMP. "
        "Each is a field of the value, by its name; the column value is the whole value. _key, _topic, "
        "_partition, _offset and _timestamp are of the record. Fields that a record has not are null; "
        "numbers are milliseconds where a time is wanted, texts are read as Spark casts them. With state.url "
        f"a topic may have its own columns, {INPUT_COLUMNS}.TOPIC, and is then a table of its own name.",
    )
    topic: str = key(HIGH, check=topic_name, doc="Topic that receives what the query gives.")
    sql: str = key(
        HIGH,
        check=non_empty,
        doc="SELECT ... FROM records ...: what it gives is the value. One column named value is the whole "
        "value, else all are its fields. Without state.url it gives one row for a record, or none, and joins "
        "tables to records: FROM records [LEFT] JOIN customers c ON ..., or JOIN (SELECT ... FROM customers "
        "GROUP BY ...) c.",
    )
    tables: tuple[str, ...] = key(
        MEDIUM,
        name=TABLES,
        default=(),
        check=distinct_names(),
        doc="Tables that the query joins, by names of your choice. Each has table.NAME.format, one of the "
        "formats of SparkSource; table.NAME.url, which is file:///folder, hdfs://host:port/folder, or the "
        "address of a database, jdbc:...; and table.NAME.option.OPTION for options of Spark's reader: of CSV "
        "header=true; of a database driver, dbtable or query, user and password. A table of Iceberg needs "
        "table.NAME.iceberg.table and table.NAME.iceberg.catalog.uri, and may have the other keys that "
        "SparkSource has of catalogs; its url is a folder that has all of its files. The driver of Spark "
        "holds the tables (spark.drivers.memory), so they must not be large. Which columns they have is seen "
        "only when they are read.",
    )
    refresh_seconds: float = seconds_key(
        "tables.refresh.ms",
        default=60_000,
        doc="Milliseconds after which the tables are read anew. With state.url the query begins again where "
        "rows have changed, which takes some seconds.",
    )
    key_converter: str | None = key(
        MEDIUM,
        name="input.key.converter",
        type=CLASS,
        default=None,
        doc="Converter of the keys that are read, if it is not that of those that are written. So are "
        "input.value.converter and input.header.converter.",
    )
    value_converter: str | None = key(
        MEDIUM,
        name="input.value.converter",
        type=CLASS,
        default=None,
        doc="Converter of the values that are read.",
    )
    header_converter: str | None = key(
        LOW,
        name="input.header.converter",
        type=CLASS,
        default=None,
        doc="Converter of the headers that are read.",
    )
    poll_seconds: float = seconds_key(
        "input.poll.interval.ms",
        default=250,
        doc="Milliseconds between two looks for new records.",
    )
    max_records: int = key(
        LOW,
        name="input.max.records",
        default=200_000,
        check=at_least(1),
        doc="How many records of a partition are read at once.",
    )
    state_url: str | None = key(
        HIGH,
        name=STATE_URL,
        default=None,
        check=non_empty,
        doc="Folder for Spark's state, which all workers see: file:///folder or hdfs://host:port/folder. "
        "With it the query may group, join topics and remove duplicates.",
    )
    state_partitions: int = key(
        MEDIUM,
        default=2,
        check=between(1, MOST_STATE_PARTITIONS),
        doc="Into how many parts the state is divided; a state keeps the number that it began with.",
    )
    state_seconds: float = seconds_key(
        "state.interval.ms",
        default=1000,
        doc="Milliseconds between the beginnings of two batches, which take some tenths of a second.",
    )
    watermark_column: str | None = key(
        MEDIUM,
        default=None,
        check=non_empty,
        doc="Column with the time of an event, a TIMESTAMP. What is older than the newest by more than "
        f"{WATERMARK_DELAY} is left out, and state that only such records could change is dropped.",
    )
    watermark_delay: str = key(
        MEDIUM,
        default="10 seconds",
        check=non_empty,
        doc="How late records may be, as Spark writes intervals: 30 seconds, 5 minutes, 1 day 12 hours.",
    )
    output_mode: str = key(
        MEDIUM,
        default=APPEND,
        check=one_of(APPEND, UPDATE),
        doc="append gives a row once it cannot change any more, a window when the watermark has passed its "
        "end; update gives it after each batch that changed it: set key.expression then.",
    )
    query: RowQuery = taken_from(RowQuery.of, keys=(KEY_EXPRESSION, TOPIC_EXPRESSION))
    columns: Mapping[str, str] = taken_from(columns_of_topics)
    table_keys: Mapping[str, str] = taken_from(_table_keys)

    def check(self) -> None:
        """Accept settings that work together.

        Raises:
            ConfigError: They do not.
        """
        for topic in self.input_topics:
            if self.columns_of(topic) is None:
                raise ConfigError(
                    f"Missing required configuration {INPUT_COLUMNS}: say which columns the records of "
                    f"{topic} have, e.g. id BIGINT, word STRING",
                    key=INPUT_COLUMNS,
                )
        for table in self.side_tables():
            if table.name in self.topic_tables():
                raise ConfigError(
                    f"Invalid value for configuration {TABLES}: {table.name} is the table of that topic; "
                    "give the other one another name",
                    key=TABLES,
                )
            table.check()
        if self.state_url is None:
            self._check_without_state()
        elif not self.state_url.startswith(_SCHEMES):
            raise ConfigError(
                f"Invalid value for configuration {STATE_URL}: expected file:///folder or "
                "hdfs://host:port/folder, where a file can be renamed in one step",
                key=STATE_URL,
            )

    def _check_without_state(self) -> None:
        if self.watermark_column is not None:
            raise ConfigError(
                f"Invalid value for configuration {WATERMARK_COLUMN}: only a query with state has a "
                f"watermark; set {STATE_URL}, or leave it out",
                key=WATERMARK_COLUMN,
            )
        if own := [topic for topic in self.columns if topic]:
            raise ConfigError(
                f"Invalid value for configuration {INPUT_COLUMNS}.{own[0]}: without {STATE_URL} there is one "
                f"table, records; put the columns into {INPUT_COLUMNS}",
                key=INPUT_COLUMNS,
            )

    def columns_of(self, topic: str) -> str | None:
        """Return the columns of a topic."""
        return self.columns.get(topic, self.columns.get(""))

    def side_tables(self) -> tuple[SideTable, ...]:
        """Return the tables of the query that are no topics.

        Raises:
            ConfigError: Their keys do not belong together.
        """
        return side_tables(self.tables, self.table_keys)

    def topic_tables(self) -> Mapping[str, tuple[str, ...]]:
        """Return the tables of the query that are topics, each with these."""
        return topic_tables(self.input_topics, self.columns)


EXAMPLES: Final = {
    "Paid orders of each country in a topic of its own": {
        "tasks.max": "2",
        "input.topics": "orders",
        "input.columns": "id BIGINT, country STRING, price DECIMAL(10,2), paid BOOLEAN",
        "topic": "paid-orders",
        "sql": "SELECT id, upper(country) AS country, price FROM records WHERE paid",
        "key.expression": "id",
        "topic.expression": "concat('paid-', lower(country))",
    },
    "Orders with the name and country of their customer, from a table of a database": {
        "tasks.max": "2",
        "input.topics": "orders",
        "input.columns": "id BIGINT, customer BIGINT, price DECIMAL(10,2)",
        "topic": "orders-of-customers",
        "sql": "SELECT o.*, c.name, c.country FROM records o LEFT JOIN customers c ON o.customer = c.id",
        "tables": "customers",
        "table.customers.format": "jdbc",
        "table.customers.url": "jdbc:postgresql://db.example:5432/shop",
        "table.customers.option.driver": "org.postgresql.Driver",
        "table.customers.option.dbtable": "customers",
        "table.customers.option.user": "reader",
        "table.customers.option.password": "${env:DB_SECRET}",
    },
    "How many orders each minute has": {
        "tasks.max": "2",
        "input.topics": "orders",
        "input.columns": "id BIGINT, at TIMESTAMP",
        "topic": "orders-per-minute",
        "sql": "SELECT window.start AS minute, count(*) AS orders FROM records "
        "GROUP BY window(at, '1 minute')",
        "key.expression": "minute",
        "watermark.column": "at",
        "watermark.delay": "30 seconds",
        "state.url": "file:///data/state",
    },
}
