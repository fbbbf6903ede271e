"""JdbcSink: what it is called and how it is configured."""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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
    non_empty,
    one_of,
)
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError

CLASS_NAME = "io.confluent.connect.jdbc.JdbcSinkConnector"
TASK_CLASS_NAME = "io.confluent.connect.jdbc.sink.JdbcSinkTask"

URL, USER, PASSWORD_KEY = "connection.url", "connection.user", "connection.password"
ATTEMPTS, BACKOFF = "connection.attempts", "connection.backoff.ms"
DIALECT = "dialect.name"
INSERT_MODE, BATCH_SIZE, DELETE_ENABLED = "insert.mode", "batch.size", "delete.enabled"
INSERT, UPSERT, UPDATE = "insert", "upsert", "update"
TABLE_FORMAT, TABLE_TYPES = "table.name.format", "table.types"
PK_MODE, PK_FIELDS, WHITELIST = "pk.mode", "pk.fields", "fields.whitelist"
NONE, KAFKA, RECORD_KEY, RECORD_VALUE = "none", "kafka", "record_key", "record_value"
TIMEZONE, DATE_TIMEZONE = "db.timezone", "date.timezone"
DB_TIMEZONE, UTC = "DB_TIMEZONE", "UTC"
TIMESTAMP_FIELDS, TIMESTAMP_PRECISION = "timestamp.fields.list", "timestamp.precision.mode"
MICROSECONDS, NANOSECONDS = "microseconds", "nanoseconds"
STRING_COLUMN = "string.output.value.column.name"
AUTO_CREATE, AUTO_EVOLVE, QUOTE = "auto.create", "auto.evolve", "quote.sql.identifiers"
MAX_RETRIES, RETRY_BACKOFF = "max.retries", "retry.backoff.ms"
REPLACE_NULL, TRIM_LOG = "replace.null.with.default", "trim.sensitive.log"
POSITIONS_TABLE: Final = "exactly.once.table"
NAME: Final = "name"
TOPIC_PLACEHOLDER: Final = "${topic}"

SUMMARY = "Writes records into the tables of a database: inserts, upserts, updates and deletes rows."
GUARANTEES = (
    "At least once, each batch in one transaction, in order per Kafka partition; with insert.mode=upsert "
    "what is written again changes nothing. At most once on request. Exactly once on request "
    "(delivery.guarantee), in PostgreSQL, MariaDB and MySQL, with any insert.mode and also without a key: "
    "the positions are rows of `exactly.once.table`, written in the transaction of the data, and a task "
    "that was thought dead can commit nothing more once its successor has begun. Records that a database "
    "refuses go to the dead letter queue alone, where there is one; all else waits for a server that is away "
    "and fails for what does not pass. Tested with PostgreSQL 15, MariaDB 10.11 and SQLite 3.40."
)


def _zone(name: str, value: ConfigSetting) -> None:
    try:
        ZoneInfo(str(value))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"Invalid value {value} for configuration {name}: Invalid time zone identifier"
        raise ConfigError(message, key=name) from error


_TABLE_KINDS = ("TABLE", "VIEW", "PARTITIONED TABLE")


def _table_kinds(name: str, value: ConfigSetting) -> None:
    for kind in value if isinstance(value, list) else []:
        one_of(*_TABLE_KINDS)(name, kind.upper())


CONFIG = ConfigDef(
    ConfigKey(
        URL, STRING, HIGH,
        doc="The database: jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, "
        "jdbc:mariadb://host:port/db or jdbc:sqlite:path.",
    ),
    ConfigKey(USER, STRING, HIGH, default=None, doc="Whom to log in as."),
    ConfigKey(PASSWORD_KEY, PASSWORD, HIGH, default=None, doc="The password; it is never shown."),
    ConfigKey(
        DIALECT, STRING, LOW, default="",
        doc="Has no effect: connection.url says which database it is.",
    ),
    ConfigKey(
        ATTEMPTS, INT, LOW, default=3, validator=at_least(1),
        doc="How often a server may refuse a connection before the task fails.",
    ),
    ConfigKey(
        BACKOFF, LONG, LOW, default=10000, validator=at_least(0),
        doc="Milliseconds until a refused connection is tried again.",
    ),
    ConfigKey(
        INSERT_MODE, STRING, HIGH, default=INSERT, validator=one_of(INSERT, UPSERT, UPDATE),
        doc="What becomes of a record: insert adds a row, upsert adds it or changes the one with its key, "
        "update changes the one with its key.",
    ),
    ConfigKey(
        BATCH_SIZE, INT, MEDIUM, default=3000, validator=at_least(0),
        doc="The most rows of one statement; 0 has no limit. A transaction holds all records of a batch.",
    ),
    ConfigKey(
        DELETE_ENABLED, BOOLEAN, MEDIUM, default=False,
        doc="Whether a record without a value deletes the row with its key; needs pk.mode=record_key.",
    ),
    ConfigKey(
        TABLE_TYPES, LIST, LOW, default=["TABLE"], validator=_table_kinds,
        doc="What may be written to: TABLE, VIEW, PARTITIONED TABLE.",
    ),
    ConfigKey(
        TABLE_FORMAT, STRING, MEDIUM, default=TOPIC_PLACEHOLDER, validator=non_empty,
        doc="Name of a topic's table; ${topic} stands for the topic. A dot separates schema and table.",
    ),
    ConfigKey(
        PK_MODE, STRING, HIGH, default=NONE, validator=one_of(NONE, KAFKA, RECORD_KEY, RECORD_VALUE),
        doc="What a row's key is: none, kafka (topic, partition and offset), record_key or record_value.",
    ),
    ConfigKey(
        PK_FIELDS, LIST, MEDIUM, default=[],
        doc="With kafka: the names of its three columns, by default __connect_topic, __connect_partition and "
        "__connect_offset. With record_key: fields of the key, by default all; for a primitive key the name "
        "of its column. With record_value: fields of the value, by default all.",
    ),
    ConfigKey(
        WHITELIST, LIST, MEDIUM, default=[],
        doc="The fields of the value that are written, besides those of the key; empty writes all.",
    ),
    ConfigKey(
        TIMEZONE, STRING, MEDIUM, default=UTC, validator=_zone,
        doc="Time zone in which points in time are written to columns that have none themselves.",
    ),
    ConfigKey(
        DATE_TIMEZONE, STRING, MEDIUM, default=DB_TIMEZONE, validator=one_of(DB_TIMEZONE, UTC),
        doc="Time zone in which a date's midnight (UTC) is looked at: DB_TIMEZONE, the one of db.timezone, "
        "where a date may be another; or UTC.",
    ),
    ConfigKey(
        TIMESTAMP_FIELDS, LIST, MEDIUM, default=[],
        doc="Fields of the value, INT64 or STRING, with numbers that are points in time since 1970, in "
        "timestamp.precision.mode; their columns are timestamps.",
    ),
    ConfigKey(
        TIMESTAMP_PRECISION, STRING, MEDIUM, default=MICROSECONDS,
        validator=one_of(MICROSECONDS, NANOSECONDS),
        doc="What timestamp.fields.list counts: microseconds or nanoseconds.",
    ),
    ConfigKey(
        STRING_COLUMN, STRING, LOW, default="record_value", validator=non_empty,
        doc="Column of values that are strings and no structs.",
    ),
    ConfigKey(AUTO_CREATE, BOOLEAN, MEDIUM, default=False, doc="Whether missing tables are created."),
    ConfigKey(
        AUTO_EVOLVE, BOOLEAN, MEDIUM, default=False,
        doc="Whether missing columns are added; nothing is ever dropped or changed.",
    ),
    ConfigKey(
        QUOTE, STRING, MEDIUM, default="always", validator=one_of("always", "never"),
        doc="Whether names of tables and columns are quoted in statements.",
    ),
    ConfigKey(
        MAX_RETRIES, INT, MEDIUM, default=10, validator=at_least(0),
        doc="How often a batch is tried again after an error that may pass, such as a server that is away.",
    ),
    ConfigKey(
        RETRY_BACKOFF, INT, MEDIUM, default=3000, validator=at_least(0),
        doc="Milliseconds until a batch is tried again.",
    ),
    ConfigKey(
        REPLACE_NULL, BOOLEAN, MEDIUM, default=True,
        doc="Whether a field without a value gets its schema's default; false writes null.",
    ),
    ConfigKey(
        TRIM_LOG, BOOLEAN, LOW, default=False, doc="Has no effect: values are never written to the log.",
    ),
    ConfigKey(
        POSITIONS_TABLE, STRING, LOW, default="copycat_offsets", validator=non_empty,
        doc="With delivery.guarantee=exactly_once: the table that keeps positions; it is created where it is "
        "missing. Connectors of one name that share a database need tables of their own.",
    ),
)  # fmt: skip
EXAMPLES = {
    "A table that follows a topic: changed and deleted by key": {
        "topics": "orders",
        "connection.url": "jdbc:postgresql://localhost:5432/shop",
        "connection.user": "writer",
        "connection.password": "${env:SHOP_PASSWORD}",
        "insert.mode": "upsert",
        "delete.enabled": "true",
        "pk.mode": "record_key",
        "pk.fields": "id",
        "auto.create": "true",
        "auto.evolve": "true",
    },
    "Rows without a key, none twice": {
        "topics": "clicks",
        "connection.url": "jdbc:postgresql://localhost:5432/shop?user=writer",
        "auto.create": "true",
        "delivery.guarantee": "exactly_once",
    },
    "A file of SQLite, a row for each record": {
        "topics": "clicks",
        "connection.url": "jdbc:sqlite:/tmp/clicks.db",
        "pk.mode": "kafka",
        "insert.mode": "upsert",
        "auto.create": "true",
        "table.name.format": "from_${topic}",
    },
}
