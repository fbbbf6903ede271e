"""CSV: the first row names the columns, every field is a text; fields in quotes may hold line ends."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from copycat_connect.data import STRING_SCHEMA, ConnectValue, Field, Schema, SchemaType, Struct
from copycat_connect.errors import DataError

from copycat_objects.formats.line_stream import LineStream
from copycat_objects.formats.reader import START, Chunk, Place

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


class CsvReader:
    """Reads rows from a byte, or from a number of rows on."""

    def __init__(
        self, lines: LineStream, start: Place, options: CsvOptions, columns: tuple[str, ...] | None
    ) -> None:
        """Read rows.

        Args:
            lines: Opened at the start's position, where it has one; else at the beginning of the file.
            start: Where to begin.
            options: How rows are written.
            columns: Names of the columns, where `lines` begins behind the header.
        """
        self._lines = lines
        self._options = options
        self._columns = columns
        self._record = start.record
        self._keeps_position = start.position is not None
        self._to_skip = 0 if start.position or start == START else start.record
        self._rows = _rows(lines, options)

    def read(self, limit: int) -> Chunk:
        """Return the next rows; see the port."""
        try:
            return self._read(limit)
        except csv.Error as error:
            message = f"Row {self._record + 1} is no CSV: {error}"
            raise DataError(message) from error
        except UnicodeDecodeError as error:
            message = f"Row {self._record + 1} or one behind it is no UTF-8: {error}"
            raise DataError(message) from error

    def columns(self) -> tuple[str, ...] | None:
        """Return the columns' names; None in an empty file."""
        if self._columns is None and self._options.header:
            self._columns = next((tuple(row) for row in self._rows if row), None)
        return self._columns

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _read(self, limit: int) -> Chunk:
        columns = self.columns()
        while self._to_skip and next(self._rows, None) is not None:
            self._to_skip -= 1
        values: list[ConnectValue] = []
        records: list[int] = []
        positions: list[int] = []
        schema = _schema(columns) if columns else None
        lines, of_valid = self._lines, Struct.of_valid
        for row in islice(self._rows, limit):
            self._record += 1
            if not row:
                continue  # a blank line
            if columns is None or schema is None:
                columns = self._columns = tuple(f"column{number + 1}" for number in range(len(row)))
                schema = _schema(columns)
            if len(row) != len(columns):
                raise self._misfit(row, columns)
            values.append(of_valid(schema, [*row]))
            records.append(self._record)
            positions.append(lines.position)
        return Chunk(
            values,
            schema,
            self._place(self._record, lines.position),
            lines.is_at_end,
            lambda: list(map(self._place, records, positions)),
        )

    def _misfit(self, row: Sequence[str], columns: Sequence[str]) -> DataError:
        return DataError(f"Row {self._record} has {len(row)} fields, and there are {len(columns)} columns")

    def _place(self, record: int, position: int) -> Place:
        return Place(record, position if self._keeps_position else None)


@lru_cache(maxsize=64)
def _schema(columns: tuple[str, ...]) -> Schema:
    if len(set(columns)) < len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        message = f"Several columns are named {', '.join(twice)}: give each a name of its own"
        raise DataError(message)
    fields = (Field(name, place, STRING_SCHEMA) for place, name in enumerate(columns))
    return Schema(SchemaType.STRUCT, field_list=tuple(fields))


def _rows(lines: LineStream, options: CsvOptions) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    texts = (line.decode() for line in lines)
    return csv.reader(
        (text.removeprefix(_BOM) for text in texts),
        delimiter=options.separator,
        quotechar=options.quote or None,
        quoting=csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
        strict=True,
    )
