"""JdbcSink: what it is called and how it is configured."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from copycat_connect.config import HIGH, LONG, LOW, MEDIUM, STRING, at_least, non_empty, one_of
from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import key, shared_key, taken_from
from copycat_connect.errors import ConfigError

from copycat_jdbc.address import parse_address
from copycat_jdbc.settings import QUOTES, ConnectionSettings, folding, is_always

CLASS_NAME = "io.confluent.connect.jdbc.JdbcSinkConnector"
TASK_CLASS_NAME = "io.confluent.connect.jdbc.sink.JdbcSinkTask"

ATTEMPTS, MAX_RETRIES = "connection.attempts", "max.retries"
INSERT_MODE, DELETE_ENABLED = "insert.mode", "delete.enabled"
TABLE_FORMAT, TABLE_TYPES = "table.name.format", "table.types"
PK_MODE, PK_FIELDS, WHITELIST = "pk.mode", "pk.fields", "fields.whitelist"
AUTO_CREATE, AUTO_EVOLVE = "auto.create", "auto.evolve"
POSITIONS_TABLE: Final = "exactly.once.table"
TOPIC_PLACEHOLDER: Final = "${topic}"

SUMMARY = "Writes records into the tables of a database: inserts, upserts, updates and deletes rows."
GUARANTEES = (
    "At least once, each batch in one transaction, in order per Kafka partition; with insert.mode=upsert "
    "what is written again changes nothing. At most once on request. Exactly once on request "
    "(delivery.guarantee) in PostgreSQL, MariaDB and MySQL, with any insert.mode and also without a key: "
    "positions are rows of `exactly.once.table`, in the transaction of the data. Records that a database "
    "refuses go to the dead letter queue, where there is one; a server that is away is waited for; what "
    "does not pass fails the task."
)


class InsertMode(StrEnum):
    """What becomes of a record."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


class PkMode(StrEnum):
    """What a row's key is made of."""

    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"


def _zone(name: str, value: ConfigSetting) -> None:
    try:
        ZoneInfo(str(value))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: Invalid time zone identifier", key=name
        ) from error


def _table_kinds(name: str, value: ConfigSetting) -> None:
    for kind in value if isinstance(value, list) else []:
        one_of("TABLE", "VIEW", "PARTITIONED TABLE")(name, kind.upper())


class JdbcSinkSettings(ConnectionSettings):
    """What a task is asked to do."""

    dialect_name: str = key(LOW, default="", doc="Has no effect: connection.url says which database it is.")
    connection_attempts: int = key(
        LOW,
        name=ATTEMPTS,
        default=3,
        check=at_least(1),
        doc="How often a server may refuse a connection before the task fails.",
    )
    connection_backoff_ms: int = key(
        LOW,
        type=LONG,
        default=10000,
        check=at_least(0),
        doc="Milliseconds until a refused connection is tried again.",
    )
    insert_mode: InsertMode = key(
        HIGH,
        name=INSERT_MODE,
        default="insert",
        doc="What becomes of a record: insert adds a row, upsert adds it or changes the one with its key, "
        "update changes the one with its key.",
    )
    batch_size: int = key(
        MEDIUM,
        default=3000,
        check=at_least(0),
        doc="The most rows of one statement; 0 has no limit. A transaction holds all records of a batch.",
    )
    delete_enabled: bool = key(
        MEDIUM,
        name=DELETE_ENABLED,
        default=False,
        doc="Whether a record without a value deletes the row with its key; needs pk.mode=record_key.",
    )
    table_types: frozenset[str] = key(
        LOW,
        name=TABLE_TYPES,
        default=["TABLE"],
        check=_table_kinds,
        read=lambda kinds: frozenset(kind.upper() for kind in kinds),
        doc="What may be written to: TABLE, VIEW, PARTITIONED TABLE.",
    )
    table_name_format: str = key(
        MEDIUM,
        name=TABLE_FORMAT,
        default=TOPIC_PLACEHOLDER,
        check=non_empty,
        doc="Name of a topic's table; ${topic} stands for the topic. A dot separates schema and table.",
    )
    pk_mode: PkMode = key(
        HIGH,
        name=PK_MODE,
        default="none",
        doc="What a row's key is: none, kafka (topic, partition and offset), record_key or record_value.",
    )
    pk_fields: tuple[str, ...] = key(
        MEDIUM,
        name=PK_FIELDS,
        default=[],
        doc="With kafka: the names of its three columns, by default __connect_topic, __connect_partition and "
        "__connect_offset. With record_key: fields of the key, by default all; for a primitive key the name "
        "of its column. With record_value: fields of the value, by default all.",
    )
    fields_whitelist: frozenset[str] = key(
        MEDIUM,
        name=WHITELIST,
        default=[],
        doc="The fields of the value that are written, besides those of the key; empty writes all.",
    )
    db_timezone: ZoneInfo = key(
        MEDIUM,
        type=STRING,
        default="UTC",
        check=_zone,
        read=ZoneInfo,
        doc="Time zone in which points in time are written to columns that have none themselves.",
    )
    date_timezone: str = key(
        MEDIUM,
        default="DB_TIMEZONE",
        check=one_of("DB_TIMEZONE", "UTC"),
        doc="Time zone in which a date's midnight (UTC) is looked at: DB_TIMEZONE, the one of db.timezone, "
        "where a date may be another; or UTC.",
    )
    timestamp_fields_list: frozenset[str] = key(
        MEDIUM,
        default=[],
        doc="Fields of the value, INT64 or STRING, with numbers that are points in time since 1970, in "
        "timestamp.precision.mode; their columns are timestamps.",
    )
    timestamp_precision_mode: str = key(
        MEDIUM,
        default="microseconds",
        check=one_of("microseconds", "nanoseconds"),
        doc="What timestamp.fields.list counts: microseconds or nanoseconds.",
    )
    string_output_value_column_name: str = key(
        LOW, default="record_value", check=non_empty, doc="Column of values that are strings and no structs."
    )
    auto_create: bool = key(
        MEDIUM, name=AUTO_CREATE, default=False, doc="Whether missing tables are created."
    )
    auto_evolve: bool = key(
        MEDIUM,
        name=AUTO_EVOLVE,
        default=False,
        doc="Whether missing columns are added; nothing is ever dropped or changed.",
    )
    quoted: bool = shared_key(QUOTES, read=is_always)
    max_retries: int = key(
        MEDIUM,
        name=MAX_RETRIES,
        default=10,
        check=at_least(0),
        doc="How often a batch is tried again after an error that may pass, such as a server that is away.",
    )
    retry_backoff_ms: int = key(
        MEDIUM, default=3000, check=at_least(0), doc="Milliseconds until a batch is tried again."
    )
    replace_null_with_default: bool = key(
        MEDIUM,
        default=True,
        doc="Whether a field without a value gets its schema's default; false writes null.",
    )
    trim_sensitive_log: bool = key(
        LOW, default=False, doc="Has no effect: values are never written to the log."
    )
    exactly_once_table: str = key(
        LOW,
        name=POSITIONS_TABLE,
        default="copycat_offsets",
        check=non_empty,
        doc="With delivery.guarantee=exactly_once: the table that keeps positions; it is created where it is "
        "missing. Connectors of one name that share a database need tables of their own.",
    )
    connector: str = taken_from(lambda config: config.get("name") or "")
    exactly_once: bool = taken_from(lambda config: guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE)

    @cached_property
    def folded(self) -> Callable[[str], str]:
        """Makes one text of all spellings that the database takes for one name of a column."""
        return folding(parse_address(self.connection_url).dialect, quoted=self.quoted)

    @property
    def zone_name(self) -> str:
        """Time zone of columns that have none themselves."""
        return self.db_timezone.key

    @cached_property
    def date_zone(self) -> ZoneInfo:
        """Time zone in which a date's midnight is looked at."""
        return self.db_timezone if self.date_timezone == "DB_TIMEZONE" else ZoneInfo("UTC")

    @cached_property
    def _folded_times(self) -> frozenset[str]:
        return frozenset(map(self.folded, self.timestamp_fields_list))

    @cached_property
    def _folded_whitelist(self) -> frozenset[str]:
        return frozenset(map(self.folded, self.fields_whitelist))

    def counts_time(self, column: str) -> bool:
        """Return whether a column is in `timestamp.fields.list`."""
        return self.folded(column) in self._folded_times

    def is_written(self, field: str) -> bool:
        """Return whether a field of the value is written: all are without `fields.whitelist`."""
        return not self._folded_whitelist or self.folded(field) in self._folded_whitelist

    @property
    def by_key(self) -> bool:
        """True when columns come from the record's key."""
        return self.pk_mode is PkMode.RECORD_KEY


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
