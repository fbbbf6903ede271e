"""One table or query, read by one result after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from copycat_connect.data import ConnectValue, SourceBatch
from copycat_connect.errors import ConnectError
from sqlalchemy import types as sql
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import SQLAlchemyError

from copycat_jdbc.columns import Column, RowReader, column_plan
from copycat_jdbc.database import Database, TableName
from copycat_jdbc.granularity import micros, moment_at
from copycat_jdbc.moments import moment_reader
from copycat_jdbc.results import Described, described
from copycat_jdbc.rows import OpenRows, Row, open_rows
from copycat_jdbc.source.followed import followed_number, followed_times
from copycat_jdbc.source.positions import QUERY, TABLE, Position, partition_of
from copycat_jdbc.source.progress import FollowedColumns
from copycat_jdbc.source.settings import (
    INCREMENTING_COLUMN,
    SHOWN_QUERY,
    JdbcSourceSettings,
    Mode,
)
from copycat_jdbc.source.statements import Statements
from copycat_jdbc.type_rules import Moment, TypeRules

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Reader:
    """Reads on from a position; at most one result is open."""

    def __init__(
        self,
        database: Database,
        settings: JdbcSourceSettings,
        table: TableName | None,
        stored: Position | None,
    ) -> None:
        """Use what to read, the query without a table, and the stored position, where there is one."""
        self.table = table
        self.due = 0.0
        """When the next result is to be opened, by the monotonic clock."""
        self._database = database
        self._settings = settings
        self._position = stored or Position()
        self._statements = Statements(database, settings, table)
        self._partition = _partition(table, settings.mode)
        self._topic = settings.topic_prefix + (table.name if table else "")
        self._result: OpenRows | None = None
        self._held: list[Row] = []
        self._rows: RowReader | None = None
        self._enums: frozenset[int] = frozenset()
        self._followed = FollowedColumns(None, ())

    @property
    def is_open(self) -> bool:
        """True while a result has not been read to its end."""
        return self._result is not None

    @property
    def name(self) -> str:
        """What is read, for texts."""
        return f"table {self.table}" if self.table else "the query"

    def close(self) -> None:
        """Let go of the result; the next one begins after the last row that was handed out."""
        result, self._result = self._result, None
        self._held = []
        if result is not None:
            try:
                result.close()
            except SQLAlchemyError:
                self._database.close()
            self._database.end_transaction()

    def open(self) -> bool:
        """Ask for the rows after the position; False when there is no such table any more.

        Raises:
            RetriableError: The server is away.
            ConnectError: The question cannot work.
        """
        known = None
        number = self._settings.incrementing
        if self.table is not None:
            known = self._database.columns(self.table)
            if known is None:
                self._database.end_transaction()
                return False
            number = followed_number(self._settings, self.table, known, self._database.dialect)
            followed_times(self._settings, self.table, known)
            self._statements.in_utc = any(
                isinstance(each["type"], sql.TIMESTAMP)
                for each in known
                if each["name"] in self._settings.timestamps
            )
        else:
            self._enums = self._database.enums()
            if self._settings.follows_number and not number:
                raise ConnectError(f"{INCREMENTING_COLUMN} must be set where {SHOWN_QUERY} is")
        end = self._bounds()
        statement = self._statements.write(number, self._position, end)
        try:
            self._result = open_rows(
                self._database, statement.text, statement.parameters, self._settings.batch_max_rows + 1
            )
            self._held = self._result.fetch(1)
        except SQLAlchemyError as error:
            self._result = None
            raise self._database.failed(error, f"read {self.name}") from None
        if self._held:  # without a row, drivers need not say what columns there are
            self._take_columns(number, known, self._result.description)
        return True

    def fetch(self) -> SourceBatch | None:
        """Return the next rows; None at the end of the result, which is then closed.

        Raises:
            RetriableError: The server is away.
            ConnectError: A row cannot be read.
        """
        result = self._result
        assert result is not None  # the caller opened it
        if not self._held:
            self.close()
            return None
        wanted = self._settings.batch_max_rows + 1 - len(self._held)
        try:
            rows = [*self._held, *result.fetch(wanted)]
        except SQLAlchemyError as error:
            self._result, self._held = None, []
            raise self._database.failed(error, f"read {self.name}") from None
        more = len(rows) > self._settings.batch_max_rows
        self._held = [rows.pop()] if more else []
        batch = self._batch(rows)
        if not more:
            self.close()
        return batch

    def _batch(self, rows: list[Row]) -> SourceBatch:
        reader = self._rows
        assert reader is not None  # made of the first row
        values = reader.values(rows)
        following = self._held[0] if self._held else None
        progress = self._followed.advance(rows, following, self._position)
        if progress is not None:
            self._position = progress.last()
        return SourceBatch(
            self._topic,
            values,
            value_schema=reader.schema,
            source_partition=self._partition,
            source_offset=self._position.offset() if progress else None,
            offsets=progress.offsets if progress else None,
        )

    def _bounds(self) -> datetime | None:
        """Return the end of the rows to read, and set where they begin when nothing was read yet."""
        position, number = self._position, self._position.number
        if self._settings.follows_number and number is None:
            number = -1
        if not self._settings.follows_time:
            self._position = Position(number)
            return None
        now = self._database.now()
        begin, initial = position.moment, self._settings.timestamp_initial
        if begin is None:
            begin = now if initial == -1 else _EPOCH + timedelta(milliseconds=initial or 0)
        self._position = Position(number, begin)
        return now - timedelta(milliseconds=self._settings.timestamp_delay_interval_ms)

    def _take_columns(
        self, number: str, known: list[ReflectedColumn] | None, description: Sequence[Any]
    ) -> None:
        labels = [entry[0] for entry in description]
        if len(set(labels)) < len(labels):
            twice = sorted({label for label in labels if labels.count(label) > 1})
            self.close()
            raise ConnectError(
                f"{self.name} has several columns named {', '.join(twice)}: give them names with AS"
            )
        found = described(self._database.dialect, description, self._held[0], self._enums)
        if known is not None:
            declared: Mapping[str, Described] = {
                each["name"]: (each["name"], each["type"], bool(each["nullable"]))
                for each in known
                # A column of SQLite needs no type.
                if self._database.dialect != "sqlite" or not isinstance(each["type"], sql.NullType)
            }
            without = found if self._database.dialect == "sqlite" else [None] * len(found)
            found = [declared.get(label, other) for label, other in zip(labels, without, strict=True)]
        settings, database = self._settings, self._database
        rules = TypeRules(
            database.dialect,
            database.zone,
            settings.numerics,
            settings.timestamp_granularity,
            settings.date_calendar_system == "LEGACY",
        )
        self._followed = FollowedColumns(
            self._place(labels, number) if self._settings.follows_number else None,
            tuple(self._moment(found, self._place(labels, each), rules) for each in self._timestamps),
        )
        columns = []
        for place, entry in enumerate(found):
            plan = None if entry is None else column_plan(entry[1], rules, optional=entry[2])
            if plan is not None:
                columns.append(Column(place, labels[place], *plan))
        name = self.table.name if self.table else None
        rows = RowReader(name, columns, len(labels))
        # An equal schema stays the same object, which converters recognise at once.
        if self._rows is None or self._rows.schema != rows.schema:
            self._rows = rows

    @property
    def _timestamps(self) -> tuple[str, ...]:
        return self._settings.timestamps if self._settings.follows_time else ()

    def _moment(self, found: Sequence[Described | None], place: int, rules: TypeRules) -> tuple[int, Moment]:
        entry = found[place]
        if entry is None:
            self.close()
            raise ConnectError(f"Column {self._settings.timestamps} of {self.name} holds no points in time")
        read = moment_reader(entry[1], rules)
        if self._database.dialect == "sqlite":
            # The statement compares milliseconds, rounded so.
            return place, lambda value: moment_at((micros(read(value)) + 500) // 1000 * 1000)
        return place, read

    def _place(self, labels: list[str], name: str) -> int:
        if name not in labels:
            self.close()
            raise ConnectError(f"{self.name} has no column {name}: set it to one of {', '.join(labels)}")
        return labels.index(name)


def _partition(table: TableName | None, mode: str) -> dict[str, ConnectValue]:
    if table is None:
        return {QUERY: QUERY}
    return {TABLE: table.name} if mode == Mode.BULK else {**partition_of(table)}
