"""JdbcSource: divides the tables among tasks, anew whenever tables come or go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime

from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_jdbc.database import TableName
from copycat_jdbc.source.contradictions import contradictions
from copycat_jdbc.source.monitor import TableMonitor
from copycat_jdbc.source.moves import Moves
from copycat_jdbc.source.positions import PROTOCOL, QUERY, TABLE, Position
from copycat_jdbc.source.settings import (
    BY_NUMBER,
    BY_TIME,
    MASKED_QUERY,
    MODE,
    SHOWN_QUERY,
    TABLES,
    JdbcSourceSettings,
    Mode,
)

#: Who asks for tasks waits so long, well below any sensible `plugin.call.timeout.ms`; then asks again.
_FIRST_LOOK_SECONDS = 5.0


class JdbcSourceConnector(SourceConnector):
    """Watches the tables; a query is one task's."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._monitor: TableMonitor | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration, and begin to watch the tables."""
        for found in self.validate(config):
            if found.errors:
                raise ConfigError(found.errors[0], key=found.name)
        self._config = dict(config)
        if not (config.get(SHOWN_QUERY) or config.get(MASKED_QUERY)):
            self._monitor = TableMonitor(self.context, config)
            self._monitor.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return contiguous groups of tables; one task without any before there are tables.

        Raises:
            RetriableError: The database has not said yet which there are.
            ConnectError: It does not say, or they cannot be read as they are.
        """
        if self._monitor is None:
            return [self._config]
        tables = self._monitor.tables(_FIRST_LOOK_SECONDS)
        return [{**self._config, TABLES: _written(group)} for group in _groups(tables, max_tasks)]

    def stop(self) -> None:
        """Stop watching."""
        if self._monitor is not None:
            self._monitor.stop()
        self._monitor = None

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check single keys, and which of them go together; the database is not asked."""
        found = {value.name: value for value in JdbcSourceSettings.config_def().validate(config)}
        for key, text in contradictions({name: value.value for name, value in found.items()}):
            found[key].errors.append(text)
        return list(found.values())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Rows can be read on after any one of them where each has a number of its own."""
        supported = config.get(MODE) in BY_NUMBER
        return ExactlyOnceSupport.SUPPORTED if supported else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept tables and the query, with numbers and times that `mode` follows."""
        for partition, offset in offsets:
            if offset is None:
                # Whatever is forgotten, the next start is well defined.
                continue
            if config.get(MODE) == Mode.BULK:
                raise ConnectError(
                    f"Offsets cannot be modified where '{MODE}' is {Mode.BULK}: there are none"
                )
            _check_partition(partition)
            _check_offset(offset, config.get(MODE) or "")
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the rows between two positions, as they are in the database now."""
        with closing(Moves(config)) as asked:
            return [asked.effect(move) for move in moves]

    def find_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition, SourceOffset]],
        time: datetime,
    ) -> list[tuple[SourcePartition, SourceOffset | None]] | None:
        """Return the positions of a time; None where `mode` follows no timestamp columns."""
        with closing(Moves(config)) as asked:
            there = asked.at(time)
        return None if there is None else [(partition, there) for partition, _ in offsets]


def _groups(tables: list[TableName], most: int) -> list[list[TableName]]:
    count = max(1, min(len(tables), most))
    size, larger = divmod(len(tables), count)
    groups, start = [], 0
    for place in range(count):
        end = start + size + (place < larger)
        groups.append(tables[start:end])
        start = end
    return groups


def _written(tables: list[TableName]) -> str:
    return json.dumps([[table.catalog, table.schema, table.name] for table in tables])


def _check_partition(partition: SourcePartition | None) -> None:
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    keys = set(partition)
    if keys not in ({TABLE, PROTOCOL}, {TABLE}, {QUERY}):
        raise ConnectError(
            f"Partition objects should contain the key '{TABLE}', with '{PROTOCOL}', or '{QUERY}'"
        )
    wrong = [key for key, value in partition.items() if not isinstance(value, str)]
    if wrong:
        raise ConnectError(
            f"The value for the '{wrong[0]}' key in the partition is expected to be a String value"
        )
    if partition.get(PROTOCOL, "1") != "1":
        raise ConnectError(f"The value for the '{PROTOCOL}' key in the partition should be \"1\"")


def _check_offset(offset: SourceOffset, mode: str) -> None:
    position = Position.of(offset)
    if mode in BY_NUMBER and position.number is None:
        raise ConnectError(
            f"Offset objects should either be null or contain the key 'incrementing' where mode={mode}"
        )
    if mode in BY_TIME and position.moment is None:
        raise ConnectError(
            f"Offset objects should either be null or contain the key 'timestamp' where mode={mode}"
        )
