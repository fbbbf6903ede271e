"""JdbcSource: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PASSWORD,
    STRING,
    ConfigDef,
    ConfigKey,
    at_least,
    one_of,
    topic_prefix,
)

CLASS_NAME = "io.confluent.connect.jdbc.JdbcSourceConnector"
TASK_CLASS_NAME = "io.confluent.connect.jdbc.source.JdbcSourceTask"

URL, USER, PASSWORD_KEY = "connection.url", "connection.user", "connection.password"
ATTEMPTS, BACKOFF = "connection.attempts", "connection.backoff.ms"
MODE = "mode"
BULK, INCREMENTING, TIMESTAMP, BOTH = "bulk", "incrementing", "timestamp", "timestamp+incrementing"
INCREMENTING_COLUMN, TIMESTAMP_COLUMNS = "incrementing.column.name", "timestamp.column.name"
INCREMENTING_MAPPING, TIMESTAMP_MAPPING = "incrementing.column.mapping", "timestamp.columns.mapping"
TIMESTAMP_INITIAL, TIMESTAMP_DELAY = "timestamp.initial", "timestamp.delay.interval.ms"
GRANULARITY, TIMEZONE = "timestamp.granularity", "db.timezone"
VALIDATE_NON_NULL = "validate.non.null"
WHITELIST, BLACKLIST = "table.whitelist", "table.blacklist"
INCLUDE, EXCLUDE = "table.include.list", "table.exclude.list"
TABLE_TYPES, CATALOG_PATTERN, SCHEMA_PATTERN = "table.types", "catalog.pattern", "schema.pattern"
MASKED_QUERY = "query.masked"
QUERY, QUERY_SUFFIX, QUERY_RETRIES = "query", "query.suffix", "query.retry.attempts"
TOPIC_PREFIX = "topic.prefix"
POLL_INTERVAL, TABLE_POLL_INTERVAL = "poll.interval.ms", "table.poll.interval.ms"
BATCH_MAX_ROWS = "batch.max.rows"
MAX_BUFFER, POLL_LINGER = "max.buffer.size", "poll.linger.ms"
DIALECT, CALENDAR = "dialect.name", "date.calendar.system"
LEGACY, PROLEPTIC = "LEGACY", "PROLEPTIC_GREGORIAN"
NUMERIC_MAPPING, NUMERIC_PRECISION = "numeric.mapping", "numeric.precision.mapping"
QUOTE, ISOLATION = "quote.sql.identifiers", "transaction.isolation.mode"

TABLES = "tables"
"""A task's key: its tables, as JSON, `[[catalog, schema, name], ...]`."""

SUMMARY = "Reads the tables of a database, or the result of a query, and goes on as rows come and change."
GUARANTEES = (
    "At least once, in the order of the columns that `mode` follows; with an incrementing column also "
    "exactly once (delivery.guarantee). The source partition is {table, protocol} or {query}, the source "
    "offset {incrementing} and {timestamp, timestamp_nanos}; bulk has no offsets and reads all again each "
    "time. Rows that become visible after others with greater numbers or times are not found: "
    "timestamp.delay.interval.ms makes room for them. Deleted rows are not told of."
)
DIALECTS = {
    "PostgreSqlDatabaseDialect": "postgresql",
    "MySqlDatabaseDialect": "mysql",
    "MariadbDatabaseDialect": "mariadb",
    "SqliteDatabaseDialect": "sqlite",
}
"""The published names of dialects, with those of addresses."""
_MODES = one_of(BULK, TIMESTAMP, INCREMENTING, BOTH)
_MAPPINGS = ("none", "precision_only", "best_fit", "best_fit_eager_double")
_ISOLATIONS = (
    "DEFAULT", "READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE",
    "SQL_SERVER_SNAPSHOT",
)  # fmt: skip
_GRANULARITIES = (
    "connect_logical",
    "micros_long", "micros_string", "micros_iso_datetime_string",
    "nanos_long", "nanos_string", "nanos_iso_datetime_string",
)  # fmt: skip

CONFIG = ConfigDef(
    ConfigKey(
        URL, STRING, HIGH,
        doc="The database: jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, "
        "jdbc:mariadb://host:port/db or jdbc:sqlite:path.",
    ),
    ConfigKey(USER, STRING, HIGH, default=None, doc="Whom to log in as."),
    ConfigKey(PASSWORD_KEY, PASSWORD, HIGH, default=None, doc="The password; it is never shown."),
    ConfigKey(
        ATTEMPTS, INT, LOW, default=3, validator=at_least(1),
        doc="How often a server may refuse a connection before the task fails; an absent one is waited for.",
    ),
    ConfigKey(BACKOFF, LONG, LOW, default=10000, doc="Milliseconds between two attempts to connect."),
    ConfigKey(
        MODE, STRING, HIGH, validator=_MODES,
        doc="How new rows are found: bulk (all rows each time), incrementing, timestamp or both with a plus.",
    ),
    ConfigKey(
        INCREMENTING_COLUMN, STRING, MEDIUM, default="",
        doc="The column whose numbers only grow; empty takes the column the database counts up itself.",
    ),
    ConfigKey(
        TIMESTAMP_COLUMNS, LIST, MEDIUM, default=[],
        doc="The columns with the time of a row's last change; of several the first that is not null counts.",
    ),
    ConfigKey(
        INCREMENTING_MAPPING, LIST, MEDIUM, default=[],
        doc="The incrementing columns of several tables: entries regex:column, the expression for the whole "
        "name (schema.table); with table.include.list, in place of incrementing.column.name.",
    ),
    ConfigKey(
        TIMESTAMP_MAPPING, LIST, MEDIUM, default=[],
        doc="The timestamp columns of several tables: entries regex:[column1|column2]; with "
        "table.include.list, in place of timestamp.column.name.",
    ),
    ConfigKey(
        TIMESTAMP_INITIAL, LONG, LOW, default=None,
        doc="Where timestamps begin without an offset, in ms since 1970; -1 is now. Default: 0.",
    ),
    ConfigKey(
        TIMESTAMP_DELAY, LONG, HIGH, default=0,
        doc="Only rows older than this many milliseconds are read, so that late transactions are not missed.",
    ),
    ConfigKey(
        GRANULARITY, STRING, LOW, default="connect_logical", validator=one_of(*_GRANULARITIES),
        doc="What timestamps become: Connect's logical type (milliseconds), or finer numbers or texts.",
    ),
    ConfigKey(TIMEZONE, STRING, MEDIUM, default="UTC", doc="Time zone of columns that have none themselves."),
    ConfigKey(
        CALENDAR, STRING, LOW, default=LEGACY, validator=one_of(LEGACY, PROLEPTIC),
        doc="Dates before 1582-10-15: LEGACY keeps year, month and day by Java's calendar, which is Julian "
        "then; PROLEPTIC_GREGORIAN is as the database counts.",
    ),
    ConfigKey(
        VALIDATE_NON_NULL, BOOLEAN, LOW, default=True,
        doc="Whether the followed columns must be declared as not null.",
    ),
    ConfigKey(WHITELIST, LIST, MEDIUM, default=[], doc="The tables to read, by name; empty reads all."),
    ConfigKey(BLACKLIST, LIST, MEDIUM, default=[], doc="The tables to leave out, by name."),
    ConfigKey(
        INCLUDE, LIST, MEDIUM, default=[],
        doc="Regular expressions for the whole names (schema.table) of the tables to read.",
    ),
    ConfigKey(
        EXCLUDE, LIST, MEDIUM, default=[],
        doc="Regular expressions for the whole names (schema.table) of tables to leave out.",
    ),
    ConfigKey(
        TABLE_TYPES, LIST, LOW, default=["TABLE"],
        doc="What to read: TABLE, VIEW; of PostgreSQL also PARTITIONED TABLE, MATERIALIZED VIEW, FOREIGN "
        "TABLE, SYSTEM TABLE, SYSTEM VIEW.",
    ),
    ConfigKey(
        CATALOG_PATTERN, STRING, MEDIUM, default=None,
        doc="Only tables of databases whose name is this or is like this pattern, with % and _.",
    ),
    ConfigKey(
        SCHEMA_PATTERN, STRING, HIGH, default=None,
        doc="Only tables of schemas whose names are like this pattern, with % and _ (PostgreSQL).",
    ),
    ConfigKey(
        QUERY, STRING, MEDIUM, default="",
        doc="Read this query instead of tables; conditions of `mode` are appended, so it has no own WHERE.",
    ),
    ConfigKey(
        MASKED_QUERY, PASSWORD, MEDIUM, default=None,
        doc="A query as `query` takes it, which is never shown; set one of both.",
    ),
    ConfigKey(QUERY_SUFFIX, STRING, LOW, default="", doc="Appended to every statement, e.g. LIMIT 1000."),
    ConfigKey(
        QUERY_RETRIES, INT, LOW, default=-1,
        doc="How often in a row a query may fail for a reason that passes; 0 and less have no limit.",
    ),
    ConfigKey(
        TOPIC_PREFIX, STRING, HIGH, validator=topic_prefix,
        doc="A table's topic is this and the table's name; that of a query is this alone.",
    ),
    ConfigKey(POLL_INTERVAL, INT, HIGH, default=5000, doc="Milliseconds between two queries of a table."),
    ConfigKey(
        TABLE_POLL_INTERVAL, LONG, LOW, default=60000,
        doc="Milliseconds between two looks for tables that are new or gone; tasks are then divided anew.",
    ),
    ConfigKey(
        BATCH_MAX_ROWS, INT, LOW, default=1000, validator=at_least(1),
        doc="The most rows of one batch; a large result streams in such batches.",
    ),
    ConfigKey(
        MAX_BUFFER, INT, LOW, default=0, validator=at_least(0),
        doc="How many rows a thread of the task reads ahead of what is delivered; 0 reads when asked.",
    ),
    ConfigKey(
        POLL_LINGER, LONG, LOW, default=5000, validator=at_least(0),
        doc="Milliseconds to wait for rows that are read ahead (max.buffer.size); half a second at most.",
    ),
    ConfigKey(
        DIALECT, STRING, LOW, default="", validator=one_of("", *DIALECTS),
        doc="Name of the dialect that the address must have; empty takes that of the address.",
    ),
    ConfigKey(
        NUMERIC_MAPPING, STRING, LOW, default=None,
        validator=lambda name, value: None if value is None else one_of(*_MAPPINGS)(name, value),
        doc="What decimals become: none (Decimal), precision_only, best_fit or best_fit_eager_double.",
    ),
    ConfigKey(NUMERIC_PRECISION, BOOLEAN, LOW, default=False, doc="Means numeric.mapping=precision_only."),
    ConfigKey(
        QUOTE, STRING, MEDIUM, default="always", validator=one_of("always", "never"),
        doc="Whether names of tables and columns are quoted in statements.",
    ),
    ConfigKey(
        ISOLATION, STRING, LOW, default="DEFAULT", validator=one_of(*_ISOLATIONS),
        doc="Isolation of the transactions that read; DEFAULT is the database's own.",
    ),
)  # fmt: skip
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
