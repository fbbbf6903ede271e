"""One table or query, read by one result after another."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from copycat_connect.data import ConnectValue, SourceBatch, SourceRecord, UnreadableRecord
from copycat_connect.errors import ConnectError, DataError
from sqlalchemy import types as sql
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import SQLAlchemyError

from copycat_jdbc.columns import Column, RowReader, column_plan
from copycat_jdbc.database import Database, TableName
from copycat_jdbc.errors import WrongSetting
from copycat_jdbc.granularity import micros, moment_at
from copycat_jdbc.moments import moment_reader
from copycat_jdbc.results import Described, ServerType, described, unknown_types
from copycat_jdbc.rows import OpenRows, Row, open_rows
from copycat_jdbc.settings import spelling
from copycat_jdbc.source.followed import followed_number, followed_times
from copycat_jdbc.source.positions import QUERY, TABLE, FollowedColumns, RowPosition, partition_of
from copycat_jdbc.source.settings import (
    FAIL,
    INCREMENTING_COLUMN,
    QUERY_SUFFIX,
    SHOWN_QUERY,
    TIMESTAMP_COLUMNS,
    UNREADABLE_COLUMNS,
    JdbcSourceSettings,
    Mode,
)
from copycat_jdbc.source.statements import SelectStatements
from copycat_jdbc.type_rules import Moment, TypeRules

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_log = logging.getLogger(__name__)
#: Rows as columns, or one by one where some cannot be read.
Rows: TypeAlias = SourceBatch | list[SourceRecord]


class RowsReader:
    """Reads on from a position; at most one result is open."""

    def __init__(
        self,
        database: Database,
        settings: JdbcSourceSettings,
        table: TableName | None,
        stored: RowPosition | None,
    ) -> None:
        """Use what to read, the query without a table, and the stored position, where there is one."""
        self.table = table
        self.due = 0.0
        """When the next result is to be opened, by the monotonic clock."""
        self._database = database
        self._settings = settings
        self._position = stored or RowPosition()
        self._statements = SelectStatements(database, settings, table)
        self._rules = TypeRules(
            database.dialect,
            database.zone,
            settings.numerics,
            settings.timestamp_granularity,
            database.address.zero_dates,
            settings.date_calendar_system == "LEGACY",
        )
        self._partition = _partition(table, settings.mode)
        self._topic = settings.topic_prefix + (table.name if table else "")
        self._result: OpenRows | None = None
        self._held: list[Row] = []
        self._rows: RowReader | None = None
        self._types: dict[int, ServerType] = {}
        self._as_text: set[str] = set()
        self._labels: list[str] = []
        self._begun = 0
        self.unread = ""
        """The columns that are left out since nothing stands for their types, for people."""
        self._followed = FollowedColumns(None, ())
        self._timestamps = settings.timestamps if settings.follows_time else ()

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
            self._timestamps = followed_times(self._settings, self.table, known)
            self._statements.in_utc = any(
                isinstance(each["type"], sql.TIMESTAMP) for each in known if each["name"] in self._timestamps
            )
        elif self._settings.follows_number and not number:
            raise WrongSetting(f"{INCREMENTING_COLUMN} must be set where {SHOWN_QUERY} is")
        end = self._bounds()
        result = self._ask(number, end, known)
        if self._held and self._learn_types(result.description, known):
            result = self._ask(number, end, known)
        if self._held:  # without a row, drivers need not say what columns there are
            self._take_columns(number, known, result.description)
        return True

    def fetch(self) -> Rows | None:
        """Return the next rows; None at the end of the result, which is then closed.

        Raises:
            RetriableError: The server is away.
            ConnectError: The server refuses to go on.
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
            raise self._failed(error) from None
        more = len(rows) > self._settings.batch_max_rows
        self._held = [rows.pop()] if more else []
        batch = self._batch(rows)
        self._begun += len(rows)
        if not more:
            self.close()
        return batch

    def _failed(self, error: SQLAlchemyError) -> ConnectError:
        """Return the error to raise; it names the keys of a statement that the user wrote."""
        found = self._database.failed(error, f"read {self.name}")
        users = {SHOWN_QUERY: self.table is None, QUERY_SUFFIX: bool(self._settings.query_suffix)}
        keys = " and ".join(key for key, is_used in users.items() if is_used)
        if keys and isinstance(found, (WrongSetting, DataError)):
            return WrongSetting(f"{found.message}. Look at {keys}")
        return found

    def _batch(self, rows: list[Row]) -> Rows:
        reader = self._rows
        assert reader is not None  # made of the first row
        values = _values_of(reader, rows, self._begun)
        following = self._held[0] if self._held else None
        progress = self._followed.advance(rows, following, self._position)
        if progress is not None:
            self._position = progress.last()
        wrong = progress.wrong if progress else {}
        if wrong or isinstance(values, DataError):
            offsets = progress.offsets() if progress else [None] * len(rows)
            return [
                self._record(reader, row, place, offset, wrong.get(place))
                for place, (row, offset) in enumerate(zip(rows, offsets, strict=True))
            ]
        return SourceBatch(
            self._topic,
            values,
            value_schema=reader.schema,
            source_partition=self._partition,
            source_offset=self._position.offset() if progress else None,
            offsets=progress.offsets if progress else None,
        )

    def _record(
        self,
        reader: RowReader,
        row: Row,
        place: int,
        offset: Mapping[str, ConnectValue] | None,
        no_time: tuple[int, Exception] | None,
    ) -> SourceRecord:
        """Return the record of a row; one that stands for it where it or its time cannot be read."""
        before = self._begun + place
        values = _values_of(reader, [row], before)
        if no_time is not None:
            column, reason = no_time
            values = reader.unreadable(self._labels[column], row, before, f"it holds no time: {reason}")
        if not isinstance(values, DataError):
            schema = reader.schema
            return SourceRecord(self._partition, offset, self._topic, values[0], value_schema=schema)
        shown = {column.name: row[column.place] for column in reader.columns}
        text = json.dumps(shown, default=str, ensure_ascii=False)
        return UnreadableRecord(self._partition, offset, self._topic, text, values)

    def _bounds(self) -> datetime | None:
        """Return the end of the rows to read, and set where they begin when nothing was read yet."""
        position, number = self._position, self._position.number
        if self._settings.follows_number and number is None:
            number = -1
        if not self._settings.follows_time:
            self._position = RowPosition(number)
            return None
        now = self._database.now()
        begin, initial = position.moment, self._settings.timestamp_initial
        if begin is None:
            begin = now if initial == -1 else _EPOCH + timedelta(milliseconds=initial or 0)
        self._position = RowPosition(number, begin)
        return now - timedelta(milliseconds=self._settings.timestamp_delay_interval_ms)

    def _take_columns(
        self, number: str, known: list[ReflectedColumn] | None, description: Sequence[Any]
    ) -> None:
        self._labels = labels = [entry[0] for entry in description]
        if len(set(labels)) < len(labels):
            twice = sorted({label for label in labels if labels.count(label) > 1})
            self.close()
            raise WrongSetting(
                f"{self.name} has several columns named {', '.join(twice)}: give them names with AS "
                f"({SHOWN_QUERY})"
            )
        rules = self._rules
        found = described(rules.dialect, description, self._held[0], self._types)
        if known is not None:
            found = self._declared(labels, found, known)
        self._followed = FollowedColumns(
            self._place(labels, number) if self._settings.follows_number else None,
            tuple(self._moment(found, self._place(labels, each), rules) for each in self._timestamps),
        )
        columns = []
        for place, entry in enumerate(found):
            plan = None if entry is None else column_plan(entry[1], rules, optional=entry[2])
            if plan is not None:
                columns.append(Column(place, labels[place], *plan))
        self._note_unread(labels, {column.place for column in columns}, description)
        name = self.table.name if self.table else None
        rows = RowReader(name, columns, len(labels), self.name, self._followed.number)
        # An equal schema stays the same object, which converters recognise at once.
        if self._rows is None or self._rows.schema != rows.schema:
            self._rows = rows

    def _ask(self, number: str, end: datetime | None, known: Sequence[ReflectedColumn] | None) -> OpenRows:
        """Open the result, and hold its first row."""
        if self._as_text and known is not None:
            self._statements.select([each["name"] for each in known], self._as_text)
        statement = self._statements.write(number, self._position, end)
        self._begun = 0
        try:
            self._result = result = open_rows(
                self._database, statement.text, statement.parameters, self._settings.batch_max_rows + 1
            )
            self._held = result.fetch(1)
        except SQLAlchemyError as error:
            self._result = None
            raise self._failed(error) from None
        return result

    def _learn_types(self, description: Sequence[Any], known: Sequence[ReflectedColumn] | None) -> bool:
        """Ask the catalog for types that the driver does not know; True where the result must be opened anew.

        A table's column of such a type is read as the text that the server makes of it.
        """
        if self._database.dialect != "postgresql":
            return False
        unknown = unknown_types(description) - self._types.keys()
        if not unknown:
            return False
        self.close()  # the connection answers one question at a time
        self._types |= self._database.types(unknown)
        for each in known or ():
            if column_plan(each["type"], self._rules, optional=False) is None:
                numbers = [entry.type_code for entry in description if entry[0] == each["name"]]
                told = [self._types[number] for number in numbers if number in self._types]
                self._as_text |= {each["name"] for type in told if type.type is None and type.has_text}
        return True

    def _declared(
        self, labels: Sequence[str], found: Sequence[Described | None], known: Sequence[ReflectedColumn]
    ) -> list[Described | None]:
        """Return the columns as the table declares them; where that says too little, as the result does."""
        declared = {each["name"]: each for each in known}
        told: list[Described | None] = []
        for label, other in zip(labels, found, strict=True):
            column = declared.get(label)
            if column is None:
                told.append(other)
                continue
            type, nullable = column["type"], bool(column["nullable"])
            if label in self._as_text or column_plan(type, self._rules, optional=False) is None:
                told.append(other and (label, other[1], nullable))
            else:
                told.append((label, type, nullable))
        return told

    def _note_unread(self, labels: Sequence[str], read: Collection[int], description: Sequence[Any]) -> None:
        """Name the columns that are left out, or fail where that is asked for."""
        left = []
        for place, label in enumerate(labels):
            if place not in read:
                told = self._types.get(description[place][1])
                left.append(f"{label} ({told.name})" if told else label)
        text = (
            f"columns of {self.name} are left out, since nothing stands for their types: {', '.join(left)}. "
            f"Read them by a query or a view that makes texts of them, or set {UNREADABLE_COLUMNS}"
            if left
            else ""
        )
        if text and self._settings.unreadable_columns == FAIL:
            self.close()
            raise ConnectError(text[0].upper() + text[1:])
        if text and text != self.unread:
            _log.warning("%s", text[0].upper() + text[1:])
        self.unread = text

    def _moment(self, found: Sequence[Described | None], place: int, rules: TypeRules) -> tuple[int, Moment]:
        entry = found[place]
        if entry is None:
            self.close()
            raise WrongSetting(
                f"Column {', '.join(self._settings.timestamps)} of {self.name} holds no points in time "
                f"({TIMESTAMP_COLUMNS})"
            )
        read = moment_reader(entry[1], rules)
        if self._database.dialect == "sqlite":
            # The statement compares milliseconds, rounded so.
            return place, lambda value: moment_at((micros(read(value)) + 500) // 1000 * 1000)
        return place, read

    def _place(self, labels: list[str], name: str) -> int:
        spelt = spelling(name, labels, self._settings.folded)
        if spelt is None:
            self.close()
            key = TIMESTAMP_COLUMNS if name in self._timestamps else INCREMENTING_COLUMN
            raise WrongSetting(f"{self.name} has no column {name}: set {key} to one of {', '.join(labels)}")
        return labels.index(spelt)


def _values_of(reader: RowReader, rows: list[Row], before: int) -> Sequence[ConnectValue] | DataError:
    """Return rows as values, or why one of them cannot be read; so many rows came before them."""
    try:
        return reader.values(rows, before)
    except DataError as error:
        return error


def _partition(table: TableName | None, mode: str) -> dict[str, ConnectValue]:
    if table is None:
        return {QUERY: QUERY}
    return {TABLE: table.name} if mode == Mode.BULK else {**partition_of(table)}
