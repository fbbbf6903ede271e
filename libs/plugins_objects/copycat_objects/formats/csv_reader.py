"""CSV: the first row names the columns, every field is a text; fields in quotes may hold line ends."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from copycat_connect.data import STRING_SCHEMA, ConnectValue, Field, Schema, SchemaType, Struct
from copycat_connect.errors import DataError

from copycat_objects.formats.line_stream import LineStream, positions_after
from copycat_objects.formats.reader import START, Chunk, RecordPlace

_BOM = "\ufeff"
_LONGEST_FIELD = 64 << 20


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """How rows are written."""

    separator: str = ","
    """One character between fields."""
    quote: str = '"'
    """One character around fields; doubled within them."""
    header: bool = True
    """Whether the first row names the columns; else they are `column1`, `column2` ..."""
    encoding: str = "UTF-8"
    """Character encoding, one whose line ends are single bytes."""


@dataclass(slots=True, eq=False)
class _Rows:
    """The rows of a chunk."""

    values: list[ConnectValue] = field(default_factory=list)
    """Their structs; the bytes of those that cannot be read."""
    records: list[int] = field(default_factory=list)
    """The number of each row, blank ones counted too."""
    ends: list[int] = field(default_factory=list)
    """How many lines of the chunk come before the end of each row."""
    unreadable: dict[int, DataError] = field(default_factory=dict)
    """Why a row cannot be read, by its index."""

    def add(self, value: ConnectValue, record: int, end: int) -> None:
        """Add a row by its number and the number of lines before its end."""
        self.values.append(value)
        self.records.append(record)
        self.ends.append(end)

    def add_unreadable(self, lines: Sequence[bytes], record: int, end: int, error: DataError) -> None:
        """Add a row that cannot be read, by its lines."""
        self.unreadable[len(self.values)] = error
        self.add(b"\n".join(lines), record, end)

    def forget(self, last: int) -> None:
        """Drop the rows up to a number."""
        first = bisect_right(self.records, last)
        self.unreadable = {place - first: why for place, why in self.unreadable.items() if place >= first}
        del self.values[:first], self.records[:first], self.ends[:first]


class CsvReader:
    """Reads rows from a byte, or from a number of rows on.

    A row that cannot be read takes the lines up to where that showed; where a quote is never closed, its
    first line alone.
    """

    def __init__(
        self, lines: LineStream, start: RecordPlace, options: CsvOptions, columns: tuple[str, ...] | None
    ) -> None:
        """Read rows.

        Args:
            lines: Opened at the start's position, where it has one; else at the beginning of the file.
            start: Where to begin.
            options: How rows are written.
            columns: Names of the columns, where `lines` begins behind the header.
        """
        csv.field_size_limit(_LONGEST_FIELD)
        self._lines = lines
        self._options = options
        self._columns = columns
        self._keeps_position = start.position is not None
        self._done = 0 if start.position or start == START else start.record
        self._record = 0 if self._done else start.record
        self._held: list[bytes] = []
        self._position = lines.position
        self._dialect: dict[str, Any] = {
            "delimiter": options.separator,
            "quotechar": options.quote or None,
            "quoting": csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
            "strict": True,
        }

    def read(self, limit: int) -> Chunk:
        """Return the next rows; see the port."""
        self.columns()
        lines, start, rows = self._take(limit), self._position, _Rows()
        at, texts = 0, self._texts_at_once(lines)
        while at < min(len(lines), limit):
            at = self._add_rows(texts, lines, at, rows)
            if at < min(len(lines), limit):
                at = self._add_odd_row(lines, at, rows)
                texts = islice(self._texts(lines, at), len(lines) - at)
        self._leave(lines, at)
        if rows.records and rows.records[0] <= self._done:
            rows.forget(self._done)
        end, used = self._position, lines[:at]
        return Chunk(
            rows.values,
            _schema(self._columns) if self._columns else None,
            self._place(self._record, end),
            not self._held and self._lines.is_at_end,
            lambda: self._places(rows, positions_after(start, used, end)),
            unreadable=rows.unreadable,
        )

    def columns(self) -> tuple[str, ...] | None:
        """Return the columns' names; None in an empty file.

        Raises:
            DataError: The row that names them cannot be read, or names one twice.
        """
        while self._columns is None and self._options.header and (lines := self._take(1)):
            reader = csv.reader(self._texts(lines, 0), **self._dialect)
            try:
                row = next(reader)
            except (csv.Error, UnicodeDecodeError) as error:
                raise DataError(f"The row that names the columns is no CSV: {error}") from error
            self._leave(lines, reader.line_num)
            if row:
                _schema(tuple(row))
                self._columns = tuple(row)
        return self._columns

    def first_columns(self) -> tuple[str, ...] | None:
        """Return the columns' names, by the first row that can be read where none names them."""
        while self.columns() is None and not self.read(1).is_last:
            pass
        return self._columns

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _take(self, limit: int) -> list[bytes]:
        held, self._held = self._held, []
        return held or self._lines.take(limit)

    def _leave(self, lines: list[bytes], used: int) -> None:
        """Keep the lines of a take that were not used."""
        self._held = lines[used:]
        if self._held:
            self._position += sum(map(len, lines[:used])) + used
        else:
            self._position = self._lines.position

    def _add_rows(self, texts: Iterable[str], lines: list[bytes], at: int, rows: _Rows) -> int:
        """Add the rows of the lines from a place on while they are CSV; returns the place behind them."""
        begin, record, columns = at, self._record, self._columns
        schema = _schema(columns) if columns else None
        reader = csv.reader(texts, **self._dialect)
        try:
            for row in reader:
                end = begin + reader.line_num
                record += 1
                if row:
                    if columns is None or schema is None:
                        columns = self._columns = tuple(f"column{number + 1}" for number in range(len(row)))
                        schema = _schema(columns)
                    if len(row) == len(columns):
                        rows.add(Struct.of_valid(schema, row), record, end)
                    else:
                        message = f"Row {record} has {len(row)} fields, and there are {len(columns)} columns"
                        rows.add_unreadable(lines[at:end], record, end, DataError(message))
                at = end
        except (csv.Error, UnicodeDecodeError):
            pass  # that row is read again, alone
        self._record = record
        return at

    def _add_odd_row(self, lines: list[bytes], at: int, rows: _Rows) -> int:
        """Add a row that ends behind the lines, or is no CSV; returns the place behind it."""
        reader = csv.reader(self._texts(lines, at), **self._dialect)
        try:
            next(reader)
        except (csv.Error, UnicodeDecodeError) as error:
            end = at + reader.line_num + isinstance(error, UnicodeDecodeError)
            is_unclosed = end == len(lines) and self._lines.is_at_end
            if is_unclosed or sum(map(len, lines[at:end])) > _LONGEST_FIELD:
                end = at + 1
            self._record += 1
            rows.add_unreadable(lines[at:end], self._record, end, self._wrong(error))
            return end
        end = at + reader.line_num
        return self._add_rows(islice(self._texts(lines, at), end - at), lines, at, rows)

    def _wrong(self, error: csv.Error | UnicodeDecodeError) -> DataError:
        no = f"not in {self._options.encoding}" if isinstance(error, UnicodeDecodeError) else "no CSV"
        found = DataError(f"Row {self._record} is {no}: {error}")
        found.__cause__ = error
        return found

    def _texts_at_once(self, lines: list[bytes]) -> Iterable[str]:
        """Decode lines; one by one where one of them cannot be decoded."""
        try:
            text = b"\n".join(lines).decode(self._options.encoding)
        except UnicodeDecodeError:
            return islice(self._texts(lines, 0), len(lines))
        return io.StringIO(text if self._position else text.removeprefix(_BOM), newline="\n")

    def _texts(self, lines: list[bytes], at: int) -> Iterator[str]:
        """Yield lines from a place on, then those behind them, which join them."""
        while at < len(lines) or self._extend(lines):
            text = lines[at].decode(self._options.encoding) + "\n"
            yield text if at or self._position else text.removeprefix(_BOM)
            at += 1

    def _extend(self, lines: list[bytes]) -> bool:
        more = self._lines.take(1)
        lines += more
        return bool(more)

    def _places(self, rows: _Rows, positions: Sequence[int]) -> list[RecordPlace]:
        return [
            self._place(record, positions[end - 1])
            for record, end in zip(rows.records, rows.ends, strict=True)
        ]

    def _place(self, record: int, position: int) -> RecordPlace:
        return RecordPlace(record, position if self._keeps_position else None)


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> Schema:
    if len(set(columns)) < len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise DataError(f"Several columns are named {', '.join(twice)}: give each a name of its own")
    fields = (Field(name, place, STRING_SCHEMA) for place, name in enumerate(columns))
    return Schema(SchemaType.STRUCT, field_list=tuple(fields))
