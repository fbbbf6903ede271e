"""Columns of records, as they are declared: what Spark reads of topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa
from copycat_connect.data import ConnectValue, MapColumns, SchemaType, SinkBatch, Struct
from copycat_connect.errors import DataError
from copycat_connect.plugin import ReportRecord
from copycat_connect.plugin.row_query import PLACE

from copycat_objects.records import is_uniform

#: The column that is the whole value.
VALUE: Final = "value"
#: Columns that are not fields of the value.
_OF_RECORD: Final[Mapping[str, Callable[[SinkBatch], Sequence[ConnectValue]]]] = {
    VALUE: attrgetter("values"),
    "_key": attrgetter("keys"),
    "_topic": attrgetter("topics"),
    "_partition": attrgetter("positions.partitions"),
    "_offset": attrgetter("positions.offsets"),
    "_timestamp": attrgetter("positions.timestamps"),
    PLACE: attrgetter("positions.offsets"),
}
_MISFITS: Final = (pa.ArrowException, TypeError, ValueError, OverflowError)
_MILLIS: Final = 1000
_values = attrgetter("values")


@dataclass(frozen=True, slots=True)
class RecordRows:
    """Makes rows of records (`RowsOfRecords`). Records without a value are left out."""

    columns: pa.Schema
    """The columns."""

    def __call__(self, batches: Iterator[SinkBatch], report: ReportRecord) -> Iterator[pa.RecordBatch]:
        """Yield rows; a record that does not fit is reported, the others of its batch are rows."""
        for batch in batches:
            places = [place for place, value in enumerate(batch.values) if value is not None]
            try:
                rows = self._rows(batch, places)
            except DataError:
                rows = self._one_by_one(batch, places, report)
            if rows.num_rows:
                yield rows

    def _one_by_one(self, batch: SinkBatch, places: Sequence[int], report: ReportRecord) -> pa.RecordBatch:
        fitting = []
        for place in places:
            record = batch[place]
            try:
                self._rows(SinkBatch.of([record]), [0])
            except DataError as error:
                report(batch, place, error)
            else:
                fitting.append(record)
        return self._rows(SinkBatch.of(fitting), range(len(fitting)))

    def _rows(self, batch: SinkBatch, places: Sequence[int]) -> pa.RecordBatch:
        whole = len(places) == len(batch)
        arrays = []
        for field in self.columns:
            values = _column(batch, field.name)
            chosen = values if whole else [values[place] for place in places]
            try:
                arrays.append(array_of(chosen, field.type))
            except _MISFITS as error:
                raise DataError(
                    f"The field {field.name} does not fit its column, {field.type}: {error}"
                ) from error
        return pa.RecordBatch.from_arrays(arrays, schema=self.columns)


def _column(batch: SinkBatch, name: str) -> Sequence[ConnectValue]:
    """Return what records have for a column, one for each."""
    if name in _OF_RECORD:
        return _OF_RECORD[name](batch)
    if isinstance(batch.column, MapColumns):
        return batch.column.columns.get(name) or [None] * len(batch)
    schema = batch.value_schemas[0] if len(batch) else None
    if schema is not None and schema.type is SchemaType.STRUCT and is_uniform(batch.value_schemas):
        field = schema.field(name)
        if field is None:
            return [None] * len(batch)
        if field.schema.default is None:
            place = field.index
            return [None if value is None else _values(value)[place] for value in batch.values]
    return [_field(value, name) for value in batch.values]


def _field(value: ConnectValue, name: str) -> ConnectValue:
    if value is None:
        return None
    if isinstance(value, Struct):
        return value[name] if value.schema.field(name) is not None else None
    if isinstance(value, Mapping):
        return value.get(name)
    raise DataError(f"The value is no struct and has no field {name}: the whole value is the column {VALUE}")


def array_of(values: Sequence[ConnectValue], type_: pa.DataType) -> pa.Array:
    """Return values as an array of a type.

    Raises:
        ArrowException, TypeError, ValueError, OverflowError: One of them does not fit.
    """
    first = next((value for value in values if value is not None), None)
    if pa.types.is_nested(type_):
        plain = _plain(type_)
        return pa.array([plain(value) for value in values], type_)
    if pa.types.is_timestamp(type_) and isinstance(first, int):
        return pa.array(values, pa.timestamp("ms", tz=type_.tz)).cast(type_)
    if isinstance(first, str) and not pa.types.is_string(type_):
        return pa.array(values, pa.string()).cast(type_)
    if pa.types.is_integer(type_):
        return pa.array(values).cast(type_)  # `pa.array` itself cuts what is behind the point of a number
    try:
        return pa.array(values, type_)
    except _MISFITS:
        return pa.array(values).cast(type_)


def _plain(type_: pa.DataType) -> Callable[[Any], Any]:
    """Return what makes a value one that Arrow takes for a type."""
    if pa.types.is_struct(type_):
        parts = {field.name: _plain(field.type) for field in type_}
        return lambda value: (
            None if value is None else {name: plain(_field(value, name)) for name, plain in parts.items()}
        )
    if pa.types.is_map(type_):
        item = _plain(type_.item_type)
        return lambda value: None if value is None else [(key, item(each)) for key, each in value.items()]
    if pa.types.is_list(type_):
        element = _plain(type_.value_type)
        return lambda value: None if value is None else [element(each) for each in value]
    if pa.types.is_timestamp(type_):
        return lambda value: value * _MILLIS if isinstance(value, int) else value
    return lambda value: value
