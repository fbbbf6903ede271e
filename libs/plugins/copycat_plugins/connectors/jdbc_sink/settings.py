"""The configuration of a task, parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from copycat_connect.config import Password
from copycat_connect.config.delivery import Guarantee, guarantee_of_sink

from copycat_plugins.connectors.jdbc.database import Database
from copycat_plugins.connectors.jdbc_sink import spec


@dataclass(frozen=True, slots=True)
class Settings:
    """What a task is asked to do."""

    connector: str
    insert_mode: str
    deletes: bool
    batch_rows: int
    """Rows of one statement; 0 has no limit."""
    table_format: str
    table_kinds: frozenset[str]
    pk_mode: str
    pk_fields: tuple[str, ...]
    whitelist: frozenset[str]
    """Names of value fields; empty means all."""
    zone: ZoneInfo
    date_zone: ZoneInfo
    timestamp_fields: frozenset[str]
    timestamp_nanos: bool
    string_column: str
    creates: bool
    evolves: bool
    quoted: bool
    max_retries: int
    retry_millis: int
    attempts: int
    connect_millis: int
    replaces_null: bool
    exactly_once: bool
    positions_table: str

    @property
    def by_key(self) -> bool:
        """True when columns come from the record's key."""
        return self.pk_mode == spec.RECORD_KEY

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Settings:
        """Parse a configuration.

        Raises:
            ConfigError: A value is wrong.
        """
        parsed: Mapping[str, Any] = spec.CONFIG.parse(config)
        zone = ZoneInfo(parsed[spec.TIMEZONE])
        return cls(
            connector=config.get(spec.NAME, ""),
            insert_mode=parsed[spec.INSERT_MODE],
            deletes=parsed[spec.DELETE_ENABLED],
            batch_rows=parsed[spec.BATCH_SIZE],
            table_format=parsed[spec.TABLE_FORMAT],
            table_kinds=frozenset(kind.upper() for kind in parsed[spec.TABLE_TYPES]),
            pk_mode=parsed[spec.PK_MODE],
            pk_fields=tuple(parsed[spec.PK_FIELDS]),
            whitelist=frozenset(parsed[spec.WHITELIST]),
            zone=zone,
            date_zone=zone if parsed[spec.DATE_TIMEZONE] == spec.DB_TIMEZONE else ZoneInfo(spec.UTC),
            timestamp_fields=frozenset(parsed[spec.TIMESTAMP_FIELDS]),
            timestamp_nanos=parsed[spec.TIMESTAMP_PRECISION] == spec.NANOSECONDS,
            string_column=parsed[spec.STRING_COLUMN],
            creates=parsed[spec.AUTO_CREATE],
            evolves=parsed[spec.AUTO_EVOLVE],
            quoted=parsed[spec.QUOTE] == "always",
            max_retries=parsed[spec.MAX_RETRIES],
            retry_millis=parsed[spec.RETRY_BACKOFF],
            attempts=parsed[spec.ATTEMPTS],
            connect_millis=parsed[spec.BACKOFF],
            replaces_null=parsed[spec.REPLACE_NULL],
            exactly_once=guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE,
            positions_table=parsed[spec.POSITIONS_TABLE],
        )


def database_of(config: Mapping[str, str]) -> Database:
    """Return the database of a configuration; nothing is connected yet.

    Raises:
        ConfigError: `connection.url` is not one of the known ones.
    """
    parsed = spec.CONFIG.parse(config)
    password = parsed[spec.PASSWORD_KEY]
    return Database(
        parsed[spec.URL],
        parsed[spec.USER],
        password.value if isinstance(password, Password) else None,
        zone=parsed[spec.TIMEZONE],
    )
