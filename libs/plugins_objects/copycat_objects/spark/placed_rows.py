"""Records of the rows that a query gives, and what makes values of Arrow's columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow.compute as pc
from copycat_connect.data import ConnectValue, Header, Schema, SourceBatch, SourceRecord, Struct
from copycat_connect.plugin import RowQuery, SparkUnit
from copycat_connect.plugin.row_query import KEY, TOPIC

from copycat_objects.formats.arrow_reading import ArrowColumn, arrow_column, struct_columns
from copycat_objects.formats.reader import Place
from copycat_objects.source.positions import offset_at

#: The column that is the whole value.
_VALUE: Final = "value"
Read = Callable[[Any], tuple[Schema, list[ConnectValue]]]
"""Makes the values of a batch of rows, and their schema."""


class PlacedRows:
    """Makes records of what a query gives: the columns of the value, a row's place, then the expressions."""

    def __init__(self, unit: SparkUnit, query: RowQuery, read: Read) -> None:
        self._unit = unit
        self._query = query
        self._read = read
        self._columns: dict[str, ArrowColumn] | None = None

    def records(self, batch: Any, skip: int) -> SourceBatch | list[SourceRecord] | None:  # noqa: ANN401 - Arrow's
        """Return the records of the rows from a place on; None without any."""
        behind = len(self._query.expressions)
        at = batch.num_columns - behind - 1
        batch = batch.slice(pc.sum(pc.less(batch.column(at), skip), min_count=0).as_py())
        if batch.num_rows == 0:
            return None
        if self._columns is None:
            fields = [batch.schema.field(at + 1 + number) for number in range(behind)]
            self._columns = {field.name: arrow_column(field) for field in fields}
        schema, values = self._read(batch.select(list(range(at))))
        parts = {
            name: column.values(batch.column(at + number))
            for number, (name, column) in enumerate(self._columns.items(), 1)
        }
        places: list[int] = batch.column(at).to_pylist()
        if self._query.topic is None and not self._query.headers:
            return SourceBatch(
                self._unit.content.picked.topic,
                values,
                value_schema=schema,
                keys=parts.get(KEY),
                key_schema=self._schema_of(KEY),
                source_partition=self._unit.partition,
                source_offset=self._behind(places[-1]),
            )
        return self._single(schema, values, parts, places)

    def _single(
        self,
        schema: Schema,
        values: list[ConnectValue],
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
                self._unit.partition,
                self._behind(place),
                self._unit.content.picked.topic if topics[row] is None else str(topics[row]),
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

    def _behind(self, place: int) -> dict[str, int | bool]:
        return offset_at(self._unit.content.file, Place(place + 1), done=False)


def spark_reader(*, may_be_whole: bool) -> Read:
    """Read with the types that Spark gives; with `may_be_whole` an only column named value is the value."""
    whole: ArrowColumn | None = None
    fields: tuple[Schema, list[ArrowColumn]] | None = None

    def read(batch: Any) -> tuple[Schema, list[ConnectValue]]:  # noqa: ANN401 - Arrow's
        nonlocal whole, fields
        if may_be_whole and batch.schema.names == [_VALUE]:
            whole = whole or arrow_column(batch.schema.field(0))
            return whole.schema, whole.values(batch.column(0))
        fields = fields or struct_columns(list(batch.schema), None, optional=False)
        return fields[0], structs_of(*fields, batch.columns)

    return read


def structs_of(schema: Schema, columns: Sequence[ArrowColumn], arrays: Sequence[Any]) -> list[ConnectValue]:
    """Return structs of the values of columns."""
    parts = [column.values(array) for column, array in zip(columns, arrays, strict=True)]
    return [Struct.of_valid(schema, [*row]) for row in zip(*parts, strict=True)]
