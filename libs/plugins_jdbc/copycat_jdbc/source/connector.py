"""JdbcSource: divides tables among tasks, anew whenever some come or go, and explains moves of offsets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition
from sqlalchemy import types as sql
from sqlalchemy.exc import SQLAlchemyError

from copycat_jdbc.database import Database, TableName
from copycat_jdbc.source.choice import TableChoice, TableMonitor, whole_names
from copycat_jdbc.source.contradictions import contradictions
from copycat_jdbc.source.followed import followed_number, followed_times
from copycat_jdbc.source.positions import PROTOCOL, QUERY, TABLE, RowPosition, partitions_of
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
from copycat_jdbc.source.statements import SelectStatements

#: Who asks for tasks waits so long, well below any sensible `plugin.call.timeout.ms`; then asks again.
_FIRST_LOOK_SECONDS = 5.0
_UNIT: Final = "rows"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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


class Moves:
    """Asks the database of a configuration; close it after use."""

    def __init__(self, config: Mapping[str, str]) -> None:
        """Use the connector's configuration; nothing is connected yet."""
        self._settings = JdbcSourceSettings.parse(config)
        self._database = Database(self._settings)
        self._choice = TableChoice(self._settings)
        self._tables: list[TableName] | None = None

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def effect(self, move: OffsetMove) -> OffsetEffect | None:
        """Count the rows between two positions as they are now; None where that is unknown."""
        try:
            if self._settings.mode == Mode.BULK:
                return None
            if not self._is_read(move.partition):
                return OffsetEffect(0, 0, _UNIT)  # no task reads it
            before, after = (self._position(offset) for offset in (move.before, move.after))
            low, high = sorted((before, after), key=_order)
            count = 0 if low == high else self._count(self._table(move.partition), low, high)
        except ConnectError:
            return None
        backwards = _order(after) < _order(before)
        return OffsetEffect(count, 0, _UNIT) if backwards else OffsetEffect(0, count, _UNIT)

    def at(self, time: datetime) -> dict[str, Any] | None:
        """Return the offset after which all rows are as new as a time; None where no times are followed."""
        if not self._settings.follows_time:
            return None
        if self._settings.follows_number:
            return RowPosition(-1, time).offset()
        step = timedelta(milliseconds=1) if self._database.dialect == "sqlite" else timedelta(microseconds=1)
        return RowPosition(None, time - step).offset()

    def _position(self, offset: Mapping[str, Any] | None) -> RowPosition:
        found = RowPosition.of(offset or {})
        number, moment = found.number, found.moment
        if self._settings.follows_number and number is None:
            number = -1
        if self._settings.follows_time and moment is None:
            initial = self._settings.timestamp_initial
            begin = _EPOCH + timedelta(milliseconds=initial or 0)
            moment = self._database.now() if initial == -1 else begin
        return RowPosition(number, moment)

    def _is_read(self, partition: Mapping[str, Any]) -> bool:
        if self._settings.query:
            return dict(partition) == {QUERY: QUERY}
        return self._table(partition) is not None

    def _table(self, partition: Mapping[str, Any]) -> TableName | None:
        if self._settings.query:
            return None
        if self._tables is None:
            self._tables = self._choice.tables(self._database).tables
        name = self._database.address.database
        return next((each for each in self._tables if dict(partition) in partitions_of(each, name)), None)

    def _count(self, table: TableName | None, low: RowPosition, high: RowPosition) -> int:
        settings, number = self._settings, self._settings.incrementing
        statements = SelectStatements(self._database, settings, None)
        if table is not None:
            settings = settings.of_table(whole_names(table, self._database.address))
            columns = self._database.columns(table) or []
            number = followed_number(settings, table, columns, self._database.dialect)
            statements = SelectStatements(self._database, settings, table)
            times = followed_times(settings, table, columns)
            statements.in_utc = any(
                isinstance(each["type"], sql.TIMESTAMP) for each in columns if each["name"] in times
            )
        statement = statements.count(number, low, high)
        try:
            connection = self._database.connect()
            return int(connection.exec_driver_sql(statement.text, statement.parameters).scalar_one())
        except SQLAlchemyError as error:
            raise self._database.failed(error, "count rows") from None


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
    position = RowPosition.of(offset)
    if mode in BY_NUMBER and position.number is None:
        raise ConnectError(
            f"Offset objects should either be null or contain the key 'incrementing' where mode={mode}"
        )
    if mode in BY_TIME and position.moment is None:
        raise ConnectError(
            f"Offset objects should either be null or contain the key 'timestamp' where mode={mode}"
        )


def _order(position: RowPosition) -> tuple[datetime, int]:
    return position.moment or _EPOCH, position.number if position.number is not None else -1
