"""What moves of offsets would do, and which offsets belong to a time: the database is asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import OffsetEffect, OffsetMove
from sqlalchemy import types as sql
from sqlalchemy.exc import SQLAlchemyError

from copycat_jdbc.database import Database, TableName
from copycat_jdbc.source.choice import TableChoice, whole_names
from copycat_jdbc.source.followed import followed_number, followed_times
from copycat_jdbc.source.positions import QUERY, Position, partitions_of
from copycat_jdbc.source.settings import JdbcSourceSettings, Mode
from copycat_jdbc.source.statements import Statements

_UNIT: Final = "rows"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
            return Position(-1, time).offset()
        step = timedelta(milliseconds=1) if self._database.dialect == "sqlite" else timedelta(microseconds=1)
        return Position(None, time - step).offset()

    def _position(self, offset: Mapping[str, Any] | None) -> Position:
        found = Position.of(offset or {})
        number, moment = found.number, found.moment
        if self._settings.follows_number and number is None:
            number = -1
        if self._settings.follows_time and moment is None:
            initial = self._settings.timestamp_initial
            begin = _EPOCH + timedelta(milliseconds=initial or 0)
            moment = self._database.now() if initial == -1 else begin
        return Position(number, moment)

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

    def _count(self, table: TableName | None, low: Position, high: Position) -> int:
        settings, number = self._settings, self._settings.incrementing
        statements = Statements(self._database, settings, None)
        if table is not None:
            settings = settings.of_table(whole_names(table, self._database.address))
            columns = self._database.columns(table) or []
            number = followed_number(settings, table, columns, self._database.dialect)
            statements = Statements(self._database, settings, table)
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


def _order(position: Position) -> tuple[datetime, int]:
    return position.moment or _EPOCH, position.number if position.number is not None else -1
