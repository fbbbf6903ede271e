"""The configuration of a task, parsed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from copycat_connect.config import Password
from copycat_connect.errors import ConnectError

from copycat_plugins.connectors.jdbc.database import Database, TableName
from copycat_plugins.connectors.jdbc.numerics import NumericMapping
from copycat_plugins.connectors.jdbc.type_rules import TypeRules
from copycat_plugins.connectors.jdbc_source import spec
from copycat_plugins.connectors.jdbc_source.mapping import ColumnMapping

_NO_WORK = (
    "Task is being killed because it was not assigned a table nor a query to execute. "
    "Restart the connector, and if it goes on look at table.include.list, table.whitelist and the "
    "user's rights"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a task is asked to do."""

    mode: str
    topic_prefix: str
    incrementing: str
    """Name of the incrementing column; empty for the one the database counts."""
    timestamps: tuple[str, ...]
    """Names of the timestamp columns."""
    timestamp_initial: int | None
    delay_millis: int
    non_null: bool
    query: str
    suffix: str
    retries: int
    poll_seconds: float
    batch_rows: int
    quoted: bool
    attempts: int
    backoff_seconds: float
    tables: tuple[TableName, ...]
    """The tables of this task."""
    numerics: NumericMapping
    granularity: str
    legacy_calendar: bool
    """Whether days before 1582-10-15 are those of Java's calendar."""
    buffer_rows: int
    """How many rows are read ahead; 0 for none."""
    linger_seconds: float
    incrementing_mapping: ColumnMapping
    """The incrementing columns of tables, where each has its own."""
    timestamp_mapping: ColumnMapping
    """The timestamp columns of tables, where each has its own."""

    @property
    def follows_number(self) -> bool:
        """True when an incrementing column is followed."""
        return self.mode in (spec.INCREMENTING, spec.BOTH)

    @property
    def follows_time(self) -> bool:
        """True when timestamp columns are followed."""
        return self.mode in (spec.TIMESTAMP, spec.BOTH)

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Settings:
        """Parse a task's configuration.

        Raises:
            ConfigError: A value is wrong.
            ConnectError: There is nothing to read.
        """
        parsed = spec.CONFIG.parse(config)
        masked = parsed[spec.MASKED_QUERY]
        query = masked.value if isinstance(masked, Password) else parsed[spec.QUERY]
        tables = tuple(TableName(*parts) for parts in json.loads(config.get(spec.TABLES, "[]")))
        if not tables and not query and spec.TABLES not in config:
            raise ConnectError(_NO_WORK)
        legacy = NumericMapping.PRECISION_ONLY if parsed[spec.NUMERIC_PRECISION] else NumericMapping.NONE
        return cls(
            mode=parsed[spec.MODE],
            topic_prefix=parsed[spec.TOPIC_PREFIX],
            incrementing=parsed[spec.INCREMENTING_COLUMN],
            timestamps=tuple(parsed[spec.TIMESTAMP_COLUMNS]),
            timestamp_initial=parsed[spec.TIMESTAMP_INITIAL],
            delay_millis=parsed[spec.TIMESTAMP_DELAY],
            non_null=parsed[spec.VALIDATE_NON_NULL],
            query=query,
            suffix=parsed[spec.QUERY_SUFFIX],
            retries=parsed[spec.QUERY_RETRIES],
            poll_seconds=parsed[spec.POLL_INTERVAL] / 1000,
            batch_rows=parsed[spec.BATCH_MAX_ROWS],
            quoted=parsed[spec.QUOTE] == "always",
            attempts=parsed[spec.ATTEMPTS],
            backoff_seconds=parsed[spec.BACKOFF] / 1000,
            tables=tables,
            numerics=NumericMapping(parsed[spec.NUMERIC_MAPPING]) if parsed[spec.NUMERIC_MAPPING] else legacy,
            granularity=parsed[spec.GRANULARITY],
            legacy_calendar=parsed[spec.CALENDAR] == spec.LEGACY,
            buffer_rows=parsed[spec.MAX_BUFFER],
            linger_seconds=parsed[spec.POLL_LINGER] / 1000,
            incrementing_mapping=ColumnMapping.parse(
                spec.INCREMENTING_MAPPING, parsed[spec.INCREMENTING_MAPPING], several=False
            ),
            timestamp_mapping=ColumnMapping.parse(
                spec.TIMESTAMP_MAPPING, parsed[spec.TIMESTAMP_MAPPING], several=True
            ),
        )

    def of_table(self, names: Sequence[str]) -> Settings:
        """Return these settings with the columns that count for a table of these whole names.

        Raises:
            ConnectError: A mapping of columns does not name them.
        """
        found = self
        if self.follows_number and self.incrementing_mapping.entries:
            found = replace(found, incrementing=self.incrementing_mapping.columns(names)[0])
        if self.follows_time and self.timestamp_mapping.entries:
            found = replace(found, timestamps=self.timestamp_mapping.columns(names))
        return found

    def type_rules(self, database: Database) -> TypeRules:
        """Return what is said of types."""
        return TypeRules(
            database.dialect, database.zone, self.numerics, self.granularity, self.legacy_calendar
        )


def database_of(config: Mapping[str, str]) -> Database:
    """Return the database of a configuration; nothing is connected yet.

    Raises:
        ConfigError: `connection.url` is not one of the known ones.
    """
    parsed = spec.CONFIG.parse(config)
    password, isolation = parsed[spec.PASSWORD_KEY], parsed[spec.ISOLATION]
    return Database(
        parsed[spec.URL],
        parsed[spec.USER],
        password.value if isinstance(password, Password) else None,
        zone=parsed[spec.TIMEZONE],
        isolation=None if isolation == "DEFAULT" else isolation.replace("_", " "),
    )
