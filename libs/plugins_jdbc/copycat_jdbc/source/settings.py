"""JdbcSource: what it is called and how it is configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import Any, cast

from copycat_connect.config import (
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    Password,
    at_least,
    one_of,
    topic_prefix,
)
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import key, shared_key

from copycat_jdbc.address import parse_address
from copycat_jdbc.granularity import CONNECT_LOGICAL, GRANULARITIES
from copycat_jdbc.numerics import NumericMapping
from copycat_jdbc.settings import QUOTES, ConnectionSettings, folding, is_always
from copycat_jdbc.source.mapping import ColumnMapping

CLASS_NAME = "io.confluent.connect.jdbc.JdbcSourceConnector"
TASK_CLASS_NAME = "io.confluent.connect.jdbc.source.JdbcSourceTask"

MODE = "mode"
INCREMENTING_COLUMN, TIMESTAMP_COLUMNS = "incrementing.column.name", "timestamp.column.name"
INCREMENTING_MAPPING, TIMESTAMP_MAPPING = "incrementing.column.mapping", "timestamp.columns.mapping"
WHITELIST, BLACKLIST = "table.whitelist", "table.blacklist"
INCLUDE, EXCLUDE = "table.include.list", "table.exclude.list"
SHOWN_QUERY, MASKED_QUERY, QUERY_RETRIES = "query", "query.masked", "query.retry.attempts"
QUERY_SUFFIX = "query.suffix"
TOPIC_PREFIX = "topic.prefix"
DIALECT = "dialect.name"
UNREADABLE_COLUMNS = "unreadable.columns"
REPORT, FAIL = "report", "fail"

TABLES = "tables"
"""A task's key: its tables, as JSON, `[[catalog, schema, name], ...]`."""

SUMMARY = "Reads the tables of a database, or the result of a query, and goes on as rows come and change."
GUARANTEES = (
    "At least once, in the order of the columns that `mode` follows; with an incrementing column also "
    "exactly once (delivery.guarantee). The source partition is {table, protocol} or {query}, the source "
    "offset {incrementing} and {timestamp, timestamp_nanos}; bulk reads all again each time. Deletions are "
    "missed, and rows that become visible after others with greater numbers or times, unless "
    "timestamp.delay.interval.ms makes room for them. A row with a value that cannot be read, such as a "
    "BIGINT UNSIGNED from 2^63 on or a BIT beyond 127, is a failed record (errors.tolerance, dead letters)."
)
DIALECTS = {
    "PostgreSqlDatabaseDialect": "postgresql",
    "MySqlDatabaseDialect": "mysql",
    "MariadbDatabaseDialect": "mariadb",
    "SqliteDatabaseDialect": "sqlite",
}
"""The published names of dialects, with those of addresses."""


class Mode(StrEnum):
    """How new rows are found."""

    BULK = "bulk"
    TIMESTAMP = "timestamp"
    INCREMENTING = "incrementing"
    BOTH = "timestamp+incrementing"


BY_NUMBER = (Mode.INCREMENTING, Mode.BOTH)
"""The modes that follow an incrementing column."""
BY_TIME = (Mode.TIMESTAMP, Mode.BOTH)
"""The modes that follow timestamp columns."""


def _numeric_mapping(name: str, value: ConfigSetting) -> None:
    if value is not None:
        one_of(*NumericMapping)(name, value)


def _seconds(millis: int) -> float:
    return millis / 1000


class JdbcSourceSettings(ConnectionSettings):
    """What a connector and its tasks are asked to do."""

    connection_attempts: int = key(
        LOW,
        default=3,
        check=at_least(1),
        doc="How often a server may refuse a connection before the task fails; an absent one is waited for.",
    )
    backoff_seconds: float = key(
        LOW,
        name="connection.backoff.ms",
        type=LONG,
        default=10000,
        read=_seconds,
        doc="Milliseconds between two attempts to connect.",
    )
    mode: Mode = key(
        HIGH,
        name=MODE,
        doc="How new rows are found: bulk (all rows each time), incrementing, timestamp or both with a plus.",
    )
    incrementing: str = key(
        MEDIUM,
        name=INCREMENTING_COLUMN,
        default="",
        doc="The column whose numbers only grow; empty takes the column the database counts up itself.",
    )
    timestamps: tuple[str, ...] = key(
        MEDIUM,
        name=TIMESTAMP_COLUMNS,
        default=[],
        doc="The columns with the time of a row's last change; of several the first that is not null counts.",
    )
    incrementing_mapping: ColumnMapping = key(
        MEDIUM,
        name=INCREMENTING_MAPPING,
        type=LIST,
        default=[],
        read=lambda entries: ColumnMapping.parse(INCREMENTING_MAPPING, entries, several=False),
        doc="The incrementing columns of several tables: entries regex:column, the expression for the whole "
        "name (schema.table); with table.include.list, in place of incrementing.column.name.",
    )
    timestamp_mapping: ColumnMapping = key(
        MEDIUM,
        name=TIMESTAMP_MAPPING,
        type=LIST,
        default=[],
        read=lambda entries: ColumnMapping.parse(TIMESTAMP_MAPPING, entries, several=True),
        doc="The timestamp columns of several tables: entries regex:[column1|column2]; with "
        "table.include.list, in place of timestamp.column.name.",
    )
    timestamp_initial: int | None = key(
        LOW,
        type=LONG,
        default=None,
        doc="Where timestamps begin without an offset, in ms since 1970; -1 is now. Default: 0.",
    )
    timestamp_delay_interval_ms: int = key(
        HIGH,
        type=LONG,
        default=0,
        doc="Only rows older than this many milliseconds are read, so that late transactions are not missed.",
    )
    timestamp_granularity: str = key(
        LOW,
        default=CONNECT_LOGICAL,
        check=one_of(*GRANULARITIES),
        doc="What timestamps become: Connect's logical type (milliseconds), or finer numbers or texts.",
    )
    db_timezone: str = key(
        MEDIUM,
        default="UTC",
        doc="Time zone of columns that have none themselves. Of an hour that its clock shows twice, as "
        "at the end of summer time, the later one counts, as in Java.",
    )
    date_calendar_system: str = key(
        LOW,
        default="LEGACY",
        check=one_of("LEGACY", "PROLEPTIC_GREGORIAN"),
        doc="Dates before 1582-10-15: LEGACY keeps year, month and day by Java's calendar, which is Julian "
        "then; PROLEPTIC_GREGORIAN is as the database counts.",
    )
    validate_non_null: bool = key(
        LOW, default=True, doc="Whether the followed columns must be declared as not null."
    )
    table_whitelist: tuple[str, ...] = key(
        MEDIUM, name=WHITELIST, default=[], doc="The tables to read, by name; empty reads all."
    )
    table_blacklist: frozenset[str] = key(
        MEDIUM, name=BLACKLIST, default=[], doc="The tables to leave out, by name."
    )
    table_include_list: tuple[str, ...] = key(
        MEDIUM,
        name=INCLUDE,
        default=[],
        doc="Regular expressions for the whole names (schema.table) of the tables to read.",
    )
    table_exclude_list: tuple[str, ...] = key(
        MEDIUM,
        name=EXCLUDE,
        default=[],
        doc="Regular expressions for the whole names (schema.table) of tables to leave out.",
    )
    table_types: frozenset[str] = key(
        LOW,
        default=["TABLE"],
        read=lambda kinds: frozenset(kind.upper() for kind in kinds),
        doc="What to read: TABLE, VIEW; of PostgreSQL also PARTITIONED TABLE, MATERIALIZED VIEW, FOREIGN "
        "TABLE, SYSTEM TABLE, SYSTEM VIEW.",
    )
    catalog_pattern: str | None = key(
        MEDIUM,
        default=None,
        doc="Only tables of databases whose name is this or is like this pattern, with % and _.",
    )
    schema_pattern: str | None = key(
        HIGH,
        default=None,
        doc="Only tables of schemas whose names are like this pattern, with % and _ (PostgreSQL).",
    )
    shown_query: str = key(
        MEDIUM,
        name=SHOWN_QUERY,
        default="",
        doc="Read this query instead of tables; conditions of `mode` are appended, so it has no own WHERE.",
    )
    masked_query: Password | None = key(
        MEDIUM,
        name=MASKED_QUERY,
        default=None,
        doc="A query as `query` takes it, which is never shown; set one of both.",
    )
    query_suffix: str = key(
        LOW, name=QUERY_SUFFIX, default="", doc="Appended to every statement, e.g. LIMIT 1000."
    )
    query_retry_attempts: int = key(
        LOW,
        name=QUERY_RETRIES,
        default=-1,
        doc="How often in a row a query may fail for a reason that passes; 0 and less have no limit.",
    )
    topic_prefix: str = key(
        HIGH,
        name=TOPIC_PREFIX,
        check=topic_prefix,
        doc="A table's topic is this and the table's name; that of a query is this alone.",
    )
    poll_seconds: float = key(
        HIGH,
        name="poll.interval.ms",
        type=INT,
        default=5000,
        read=_seconds,
        doc="Milliseconds between two queries of a table.",
    )
    table_poll_seconds: float = key(
        LOW,
        name="table.poll.interval.ms",
        type=LONG,
        default=60000,
        read=_seconds,
        doc="Milliseconds between two looks for tables that are new or gone; tasks are then divided anew.",
    )
    batch_max_rows: int = key(
        LOW,
        default=1000,
        check=at_least(1),
        doc="The most rows of one batch; a large result streams in such batches.",
    )
    max_buffer_size: int = key(
        LOW,
        default=0,
        check=at_least(0),
        doc="How many rows a thread of the task reads ahead of what is delivered; 0 reads when asked.",
    )
    linger_seconds: float = key(
        LOW,
        name="poll.linger.ms",
        type=LONG,
        default=5000,
        check=at_least(0),
        read=_seconds,
        doc="Milliseconds to wait for rows that are read ahead (max.buffer.size); half a second at most.",
    )
    dialect_name: str = key(
        LOW,
        name=DIALECT,
        default="",
        check=one_of("", *DIALECTS),
        doc="Name of the dialect that the address must have; empty takes that of the address.",
    )
    numeric_mapping: str | None = key(
        LOW,
        default=None,
        check=_numeric_mapping,
        doc="What decimals become: none (Decimal), precision_only, best_fit or best_fit_eager_double. A "
        "column that declares no digits is a Decimal of 127 digits behind the point; the last makes doubles "
        "of it.",
    )
    unreadable_columns: str = key(
        LOW,
        name=UNREADABLE_COLUMNS,
        default=REPORT,
        check=one_of(REPORT, "log", FAIL),
        doc="Columns of types that nothing stands for (arrays, records): report leaves them out and says so "
        "in log and status, log in the log alone; fail fails the task.",
    )
    numeric_precision_mapping: bool = key(LOW, default=False, doc="Means numeric.mapping=precision_only.")
    quoted: bool = shared_key(QUOTES, read=is_always)
    transaction_isolation_mode: str = key(
        LOW,
        default="DEFAULT",
        check=one_of(
            "DEFAULT",
            "READ_UNCOMMITTED",
            "READ_COMMITTED",
            "REPEATABLE_READ",
            "SERIALIZABLE",
            "SQL_SERVER_SNAPSHOT",
        ),
        doc="Isolation of the transactions that read; DEFAULT is the database's own.",
    )

    @cached_property
    def folded(self) -> Callable[[str], str]:
        """Makes one text of all spellings that the database takes for one name of a column."""
        return folding(parse_address(self.connection_url).dialect, quoted=self.quoted)

    @property
    def zone_name(self) -> str:
        """Time zone of columns that have none themselves."""
        return self.db_timezone

    @property
    def isolation(self) -> str | None:
        """Isolation of transactions as SQLAlchemy names it; None for the database's own."""
        mode = self.transaction_isolation_mode
        return None if mode == "DEFAULT" else mode.replace("_", " ")

    @property
    def follows_number(self) -> bool:
        """True when an incrementing column is followed."""
        return self.mode in BY_NUMBER

    @property
    def follows_time(self) -> bool:
        """True when timestamp columns are followed."""
        return self.mode in BY_TIME

    @cached_property
    def query(self) -> str:
        """What is read in place of tables; empty for tables."""
        return self.shown_query if self.masked_query is None else self.masked_query.value

    @cached_property
    def numerics(self) -> NumericMapping:
        """What becomes of decimals."""
        if self.numeric_mapping is not None:
            return NumericMapping(self.numeric_mapping)
        return NumericMapping.PRECISION_ONLY if self.numeric_precision_mapping else NumericMapping.NONE

    def of_table(self, names: Sequence[str]) -> JdbcSourceSettings:
        """Return these settings with the columns that count for a table of these whole names.

        Raises:
            ConnectError: A mapping of columns does not name them.
        """
        found: dict[str, object] = {}
        if self.follows_number and self.incrementing_mapping.entries:
            found["incrementing"] = self.incrementing_mapping.columns(names)[0]
        if self.follows_time and self.timestamp_mapping.entries:
            found["timestamps"] = self.timestamp_mapping.columns(names)
        return cast("JdbcSourceSettings", replace(cast("Any", self), **found))


EXAMPLES = {
    "New rows of every table, with the time of their last change": {
        "connection.url": "jdbc:postgresql://localhost:5432/shop",
        "connection.user": "reader",
        "connection.password": "${env:SHOP_PASSWORD}",
        "mode": "timestamp+incrementing",
        "incrementing.column.name": "id",
        "timestamp.column.name": "updated_at",
        "topic.prefix": "shop-",
        "validate.non.null": "false",
    },
    "One table of SQLite": {
        "connection.url": "jdbc:sqlite:/tmp/shop.db",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": "orders",
        "topic.prefix": "shop-",
    },
    "A join": {
        "connection.url": "jdbc:mariadb://localhost:3306/shop?user=reader",
        "mode": "bulk",
        "query": "SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer",
        "topic.prefix": "orders-with-names",
        "poll.interval.ms": "3600000",
    },
}
