"""Records of rows that have a place, and what makes values of Arrow's columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Protocol
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from copycat_connect.data import ConnectValue, Header, Schema, SourceBatch, SourceRecord
from copycat_connect.errors import DataError
from copycat_connect.plugin import RowQuery, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition
from copycat_connect.plugin.row_query import KEY, TOPIC

from copycat_objects.formats.arrow_reading import ArrowColumn, arrow_column, struct_columns, struct_rows
from copycat_objects.formats.reader import RecordPlace
from copycat_objects.source.positions import offset_at, partition_of
from copycat_objects.spark.key_ranges import KeyRange
from copycat_objects.spark.python_sources import SourcePart
from copycat_objects.stores.store import path_of

#: The column that is the whole value.
_VALUE: Final = "value"
#: What Spark takes for a pattern in a path.
_PATTERN: Final = re.compile(r"([\\*?\[\]{}])")
Read = Callable[[Any], tuple[Schema, Sequence[ConnectValue]]]
"""Makes the values of a batch of rows, and their schema."""


class CountedRows(Protocol):
    """Plans and reads what has no files: ranges of keys (`KeyRange`), or partitions (`SourcePart`)."""

    def plan(self, offset: Callable[[SourcePartition], SourceOffset | None]) -> list[SparkUnit]:
        """Return what comes next, nothing before it is time to look; `offset` returns what is committed."""

    def frame(self, session: Any, content: Any) -> Any:  # noqa: ANN401 - PySpark's, and its own
        """Return the rows of a unit as a frame of one partition.

        Raises:
            Exception: Spark's, or its own.
        """

    def is_done(self, content: Any, offset: SourceOffset | None) -> bool:  # noqa: ANN401 - as above
        """Return whether nothing of a unit is left behind a committed offset."""

    def end_of(self, content: Any, offset: SourceOffset | None) -> SourceOffset:  # noqa: ANN401 - as above
        """Return the offset at the end of a unit, given the one behind its last record."""


class PlacedRows:
    """Makes records of the columns of the value, a row's place, then those of expressions.

    The place is the number of a row, where several files are read that of its file with the file; it may be
    null behind a row of the same one.
    """

    def __init__(
        self,
        units: Mapping[str, tuple[SparkUnit, int | None]],
        query: RowQuery,
        read: Read,
        topic: str,
        behind: Callable[[SparkUnit, int], SourceOffset],
    ) -> None:
        """Make records of units.

        Args:
            units: Each under the path of its file and with the place to begin at; None for those done.
            query: What was made of the rows.
            read: Makes the values.
            topic: Where records go for which the query says nothing else.
            behind: Returns the offset behind so many rows of a unit.
        """
        self._units = units
        self._topic, self._behind = topic, behind
        self._query = query
        self._read = read
        self._file = ""
        """The file of the last row, as Spark writes it."""
        self._columns: dict[str, ArrowColumn] | None = None
        self._last = -1
        """The place of the last row of a query that joins tables."""

    def batches(self, rows: Any) -> Iterator[SourceBatch | list[SourceRecord]]:  # noqa: ANN401 - Arrow's
        """Yield the records of rows, file by file."""
        at = rows.num_columns - len(self._query.expressions) - 1
        places = rows.column(at)
        if not pa.types.is_struct(places.type):
            ((unit, start),) = self._units.values()
            yield from self._of_unit(unit, start, rows, places)
            return
        files, numbers = places.field(0), places.field(1)
        for file, begin, count in self._parts(files):
            found = self._units.get(path_of(unquote(file)))
            if found is None:
                raise DataError(f"Spark has read {file}, which it was not to read")
            yield from self._of_unit(*found, rows.slice(begin, count), numbers.slice(begin, count))

    def _parts(self, files: Any) -> Iterator[tuple[str, int, int]]:  # noqa: ANN401 - Arrow's
        """Yield each file, its first row and how many there are."""
        runs, begin, first = pc.run_end_encode(files), 0, 0
        for file, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            if file is not None:
                if begin > first:
                    yield self._file, first, begin - first
                self._file, first = file, begin
            begin = end
        if begin > first:
            yield self._file, first, begin - first

    def _of_unit(
        self,
        unit: SparkUnit,
        start: int | None,
        rows: Any,  # noqa: ANN401 - Arrow's
        numbers: Any,  # noqa: ANN401 - Arrow's
    ) -> Iterator[SourceBatch | list[SourceRecord]]:
        """Yield the records of the rows of a file from a place on, if there are any."""
        if start is None:
            return
        known = pc.sum(pc.less(numbers, start), min_count=0).as_py()
        rows, places = rows.slice(known), numbers.slice(known).to_pylist()
        if not places:
            return
        if self._query.tables:
            self._check_single(unit, places)
        behind = len(self._query.expressions)
        at = rows.num_columns - behind - 1
        if self._columns is None:
            fields = [rows.schema.field(at + 1 + number) for number in range(behind)]
            self._columns = {field.name: arrow_column(field) for field in fields}
        schema, values = self._read(rows.select(list(range(at))))
        parts = {
            name: column.values(rows.column(at + number))
            for number, (name, column) in enumerate(self._columns.items(), 1)
        }
        if self._query.topic is not None or self._query.headers:
            yield self._single(unit, schema, values, parts, places)
            return
        yield SourceBatch(
            self._topic,
            values,
            value_schema=schema,
            keys=parts.get(KEY),
            key_schema=self._schema_of(KEY),
            source_partition=unit.partition,
            source_offset=self._behind(unit, places[-1] + 1),
        )

    def _check_single(self, unit: SparkUnit, places: Sequence[int]) -> None:
        """Refuse several rows for one record: an offset cannot say how many of them are committed.

        Raises:
            DataError: There are.
        """
        for before, place in pairwise((self._last, *places)):
            if before == place:
                raise DataError(
                    f"{unit.name}: several rows of a table match the record at {place}, and a query gives "
                    "one row for a record, or none: have the table hold each key once, or join what a SELECT "
                    "with GROUP BY makes of it"
                )
        self._last = places[-1]

    def _single(
        self,
        unit: SparkUnit,
        schema: Schema,
        values: Sequence[ConnectValue],
        parts: Mapping[str, list[ConnectValue]],
        places: Sequence[int],
    ) -> list[SourceRecord]:
        """Make records that differ in more than key and value."""
        nothing: list[ConnectValue] = [None] * len(values)
        keys, topics = parts.get(KEY, nothing), parts.get(TOPIC, nothing)
        named = [name for name in parts if name not in {KEY, TOPIC}]
        columns = [(header, name) for header, name in zip(self._query.headers, named, strict=True)]
        return [
            SourceRecord(
                unit.partition,
                self._behind(unit, place + 1),
                self._topic if topics[row] is None else str(topics[row]),
                value,
                key=keys[row],
                key_schema=self._schema_of(KEY),
                value_schema=schema,
                headers=[
                    Header(header, parts[name][row], self._schema_of(name))
                    for header, name in columns
                    if parts[name][row] is not None
                ],
            )
            for row, (value, place) in enumerate(zip(values, places, strict=True))
        ]

    def _schema_of(self, column: str) -> Schema | None:
        found = None if self._columns is None else self._columns.get(column)
        return None if found is None else found.schema


def file_unit(store: str, content: Any) -> SparkUnit:  # noqa: ANN401 - whatever has a `file`
    """Return the unit of a file of a store; the content has the file, and the topic of its records."""
    file = content.file
    return SparkUnit(partition_of(store, file.path), f"{file.path} in {store}", content, file.size)


def literal_path(address: str) -> str:
    """Return the address of a file as Spark takes it for that of no other."""
    return _PATTERN.sub(r"\\\1", address)


def spark_reader(*, may_be_whole: bool) -> Read:
    """Read with the types that Spark gives; with `may_be_whole` an only column named value is the value."""
    whole: ArrowColumn | None = None
    fields: tuple[Schema, list[ArrowColumn]] | None = None

    def read(batch: Any) -> tuple[Schema, Sequence[ConnectValue]]:  # noqa: ANN401 - Arrow's
        nonlocal whole, fields
        if may_be_whole and batch.schema.names == [_VALUE]:
            whole = whole or arrow_column(batch.schema.field(0))
            return whole.schema, whole.values(batch.column(0))
        fields = fields or struct_columns(list(batch.schema), None, optional=False)
        return fields[0], struct_rows(*fields, batch.columns, batch.num_rows)

    return read


def counted(unit: SparkUnit, start: int, rows: Iterator[Any], read: Read) -> Iterator[SourceBatch]:
    """Make records of all rows of a unit from a place on."""
    record = 0
    for batch in rows:
        record += batch.num_rows
        if record <= start:
            continue
        schema, values = read(batch.slice(max(batch.num_rows - (record - start), 0)))
        yield SourceBatch(
            _topic_of(unit),
            values,
            value_schema=schema,
            source_partition=unit.partition,
            source_offset=behind(unit, record),
        )


def _topic_of(unit: SparkUnit) -> str:
    content = unit.content
    return content.topic if isinstance(content, KeyRange | SourcePart) else str(content.picked.topic)


def behind(unit: SparkUnit, record: int) -> dict[str, int | bool]:
    """Return the offset behind so many rows of a file, a range or a partition."""
    content = unit.content
    if isinstance(content, KeyRange | SourcePart):
        return content.behind(record)
    return offset_at(content.file, RecordPlace(record), done=False)
