"""Arrow's columns as Connect's values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from copycat_connect.data import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    Field,
    Schema,
    SchemaType,
    Struct,
    StructColumns,
    decimal_schema,
)
from copycat_connect.data.logical import date_from_days, time_from_millis, timestamp_from_millis
from copycat_connect.errors import DataError

Values = Callable[[Any], list[ConnectValue]]
_PRECISION: Final = "connect.decimal.precision"


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """How a column is read."""

    schema: Schema
    """What its values are."""
    values: Values
    """Makes them of an Arrow array."""
    encoded: Values | None = None
    """Makes of an Arrow array the integers that dates and times are on the wire; None for other types."""


def struct_columns(
    fields: Sequence[Any], wanted: Schema | None, *, optional: bool
) -> tuple[Schema, list[ArrowColumn]]:
    """Return the schema of structs, and how each field of theirs is read.

    Args:
        fields: Arrow's fields.
        wanted: The schema in the file itself; used where it has the same fields.
        optional: Whether structs may be null.

    Raises:
        DataError: Connect has nothing for the type of a field.
    """
    told = wanted if wanted is not None and wanted.type is SchemaType.STRUCT else None
    if told is not None and [field.name for field in told.field_list] != [field.name for field in fields]:
        told = None
    known = [None] * len(fields) if told is None else [field.schema for field in told.field_list]
    columns = [arrow_column(field, schema) for field, schema in zip(fields, known, strict=True)]
    parts = tuple(
        Field(field.name, place, column.schema)
        for place, (field, column) in enumerate(zip(fields, columns, strict=True))
    )
    if told is not None:
        return replace(told, field_list=parts), columns
    return Schema(SchemaType.STRUCT, optional=optional, field_list=parts), columns


def struct_rows(
    schema: Schema, columns: Sequence[ArrowColumn], arrays: Sequence[Any], count: int
) -> StructColumns:
    """Return as many structs, whose fields are read from Arrow's arrays; they are made when asked for.

    Raises:
        DataError: A value is one that Connect cannot hold.
    """
    pairs = list(zip(columns, arrays, strict=True))
    found = [(column.encoded or column.values)(array) for column, array in pairs]

    def decoded() -> list[list[ConnectValue]]:
        return [
            values if column.encoded is None else column.values(array)
            for values, (column, array) in zip(found, pairs, strict=True)
        ]

    return StructColumns(schema, count, decoded, found)


def arrow_column(field: pa.Field, wanted: Schema | None = None) -> ArrowColumn:
    """Return how a column is read.

    Args:
        field: Arrow's field.
        wanted: The schema in the file itself; used where it is of the same type.

    Raises:
        DataError: Connect has nothing for its type.
    """
    found = _column(field.type, wanted, optional=field.nullable, name=field.name)
    if wanted is not None and wanted.type is found.schema.type and wanted.type not in _NESTED:
        return replace(found, schema=wanted)
    return found


def _column(type_: pa.DataType, wanted: Schema | None, *, optional: bool, name: str) -> ArrowColumn:
    nested = _nested(type_, wanted, optional=optional, name=name)
    if nested is not None:
        return nested
    for is_kind, make in _KINDS:
        if is_kind(type_):
            found = make(type_)
            return replace(found, schema=replace(found.schema, optional=optional))
    raise DataError(
        f"The column {name} has the type {type_}, which Connect has nothing for: leave the column out"
    )


def _nested(type_: pa.DataType, wanted: Schema | None, *, optional: bool, name: str) -> ArrowColumn | None:
    if pa.types.is_dictionary(type_):
        return _decoded(_column(type_.value_type, wanted, optional=optional, name=name))
    if pa.types.is_struct(type_):
        return _struct(type_, wanted, optional=optional)
    if pa.types.is_map(type_):
        return _map(type_, wanted, optional=optional)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return _list(type_, wanted, optional=optional)
    return None


def _decoded(inner: ArrowColumn) -> ArrowColumn:
    """Read a column whose different values are written once."""

    def through(read: Values) -> Values:
        return lambda array: read(array.dictionary_decode())

    return ArrowColumn(
        inner.schema, through(inner.values), None if inner.encoded is None else through(inner.encoded)
    )


def _struct(type_: pa.DataType, wanted: Schema | None, *, optional: bool) -> ArrowColumn:
    schema, columns = struct_columns([*type_], wanted, optional=optional)

    def values(array: pa.Array) -> list[ConnectValue]:
        parts = [column.values(array.field(place)) for place, column in enumerate(columns)]
        rows = zip(array.is_valid().to_pylist(), zip(*parts, strict=True), strict=True)
        return [Struct.of_valid(schema, [*row]) if valid else None for valid, row in rows]

    return ArrowColumn(schema, values)


def _list(type_: pa.DataType, wanted: Schema | None, *, optional: bool) -> ArrowColumn:
    told = wanted if wanted is not None and wanted.type is SchemaType.ARRAY else None
    item = arrow_column(type_.value_field, None if told is None else told.value)
    schema = Schema(SchemaType.ARRAY, optional=optional, value=item.schema)
    if told is not None:
        schema = replace(told, value=item.schema)

    def values(array: pa.Array) -> list[ConnectValue]:
        items = item.values(array.flatten())
        return _cut(items, pc.list_value_length(array).to_pylist())

    return ArrowColumn(schema, values)


def _map(type_: pa.DataType, wanted: Schema | None, *, optional: bool) -> ArrowColumn:
    told = wanted if wanted is not None and wanted.type is SchemaType.MAP else None
    key = arrow_column(type_.key_field, None if told is None else told.key)
    item = arrow_column(type_.item_field, None if told is None else told.value)
    schema = Schema(SchemaType.MAP, optional=optional, key=key.schema, value=item.schema)
    if told is not None:
        schema = replace(told, key=key.schema, value=item.schema)

    def values(array: pa.Array) -> list[ConnectValue]:
        entries = array.cast(pa.list_(pa.struct([type_.key_field, type_.item_field])))
        flat = entries.flatten()
        pairs = list(zip(key.values(flat.field(0)), item.values(flat.field(1)), strict=True))
        found = _cut(pairs, pc.list_value_length(entries).to_pylist())
        return [None if each is None else dict(each) for each in found]

    return ArrowColumn(schema, values)


def _cut(items: list[Any], lengths: Sequence[int | None]) -> list[Any]:
    found: list[Any] = []
    start = 0
    for length in lengths:
        if length is None:
            found.append(None)
            continue
        found.append(items[start : start + length])
        start += length
    return found


def _as_is(kind: SchemaType, target: pa.DataType | None = None) -> Callable[[Any], ArrowColumn]:
    def values(array: pa.Array) -> list[ConnectValue]:
        found: list[ConnectValue] = (array if target is None else array.cast(target)).to_pylist()
        return found

    return lambda _: ArrowColumn(Schema(kind), values)


def _numbered(
    schema: Schema, cast: Callable[[Any], Any], read: Callable[[int], ConnectValue]
) -> Callable[[Any], ArrowColumn]:
    """Read values that Arrow keeps as numbers, far dates too, which its own way to Python refuses."""

    def values(array: pa.Array) -> list[ConnectValue]:
        return [None if number is None else read(number) for number in cast(array).to_pylist()]

    def encoded(array: pa.Array) -> list[ConnectValue]:
        numbers = cast(array)
        for bound in pc.min_max(numbers).as_py().values():
            if bound is not None:
                read(bound)  # which refuses what Connect cannot hold, now and not when values are made
        found: list[ConnectValue] = numbers.to_pylist()
        return found

    return lambda _: ArrowColumn(schema, values, encoded)


def _decimal(type_: pa.DataType) -> ArrowColumn:
    schema = decimal_schema(max(type_.scale, 0))
    told = replace(schema, parameters={**(schema.parameters or {}), _PRECISION: str(type_.precision)})
    return ArrowColumn(told, lambda array: array.to_pylist())


def _whole(_: pa.DataType) -> ArrowColumn:
    return ArrowColumn(
        decimal_schema(0),
        lambda array: [None if number is None else Decimal(number) for number in array.to_pylist()],
    )


def _nothing(_: pa.DataType) -> ArrowColumn:
    return ArrowColumn(Schema(SchemaType.STRING), lambda array: [None] * len(array))


def _days(array: pa.Array) -> pa.Array:
    return array.cast(pa.date32()).cast(pa.int32())


def _day_millis(array: pa.Array) -> pa.Array:
    return array.cast(pa.time32("ms"), safe=False).cast(pa.int32())


def _millis(array: pa.Array) -> pa.Array:
    return array.cast(pa.timestamp("ms", tz=array.type.tz), safe=False).cast(pa.int64())


def _is_text(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)
    )


def _is_bytes(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_binary_view(type_)
        or pa.types.is_fixed_size_binary(type_)
    )


_NESTED: Final = frozenset({SchemaType.STRUCT, SchemaType.ARRAY, SchemaType.MAP})
#: Unsigned numbers take the next wider type, so that all of theirs fit.
_KINDS: Final[Sequence[tuple[Callable[[Any], bool], Callable[[Any], ArrowColumn]]]] = (
    (pa.types.is_boolean, _as_is(SchemaType.BOOLEAN)),
    (pa.types.is_int8, _as_is(SchemaType.INT8)),
    (pa.types.is_int16, _as_is(SchemaType.INT16)),
    (pa.types.is_uint8, _as_is(SchemaType.INT16)),
    (pa.types.is_int32, _as_is(SchemaType.INT32)),
    (pa.types.is_uint16, _as_is(SchemaType.INT32)),
    (pa.types.is_int64, _as_is(SchemaType.INT64)),
    (pa.types.is_uint32, _as_is(SchemaType.INT64)),
    (pa.types.is_uint64, _whole),
    (pa.types.is_float16, _as_is(SchemaType.FLOAT32, pa.float32())),
    (pa.types.is_float32, _as_is(SchemaType.FLOAT32)),
    (pa.types.is_float64, _as_is(SchemaType.FLOAT64)),
    (_is_text, _as_is(SchemaType.STRING)),
    (_is_bytes, _as_is(SchemaType.BYTES)),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_date, _numbered(DATE_SCHEMA, _days, date_from_days)),
    (pa.types.is_time, _numbered(TIME_SCHEMA, _day_millis, time_from_millis)),
    (pa.types.is_timestamp, _numbered(TIMESTAMP_SCHEMA, _millis, timestamp_from_millis)),
    (pa.types.is_duration, _as_is(SchemaType.INT64, pa.int64())),
    (pa.types.is_null, _nothing),
)
