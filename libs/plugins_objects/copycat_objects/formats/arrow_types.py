"""Connect's schemas as Arrow's types, and columns of values as Arrow's arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct
from copycat_connect.data.logical import (
    DATE,
    DECIMAL,
    TIME,
    TIMESTAMP,
    date_from_days,
    date_to_days,
    decimal_scale,
    time_from_millis,
    time_to_millis,
    timestamp_from_millis,
    timestamp_to_millis,
)
from copycat_connect.errors import DataError

_PLAIN: Final = {
    SchemaType.INT8: pa.int8(),
    SchemaType.INT16: pa.int16(),
    SchemaType.INT32: pa.int32(),
    SchemaType.INT64: pa.int64(),
    SchemaType.FLOAT32: pa.float32(),
    SchemaType.FLOAT64: pa.float64(),
    SchemaType.BOOLEAN: pa.bool_(),
    SchemaType.STRING: pa.string(),
    SchemaType.BYTES: pa.binary(),
}
_PRECISION: Final = "connect.decimal.precision"
_MOST_DIGITS: Final = 38
_NUMBERS: Final = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_PLAIN_FILLERS: Final[dict[SchemaType, ConnectValue]] = {
    **dict.fromkeys(_NUMBERS, 0),
    SchemaType.FLOAT32: 0.0,
    SchemaType.FLOAT64: 0.0,
    SchemaType.BOOLEAN: False,
    SchemaType.STRING: "",
    SchemaType.BYTES: b"",
    SchemaType.ARRAY: [],
    SchemaType.MAP: {},
}
_FILLERS: Final[dict[str, ConnectValue]] = {
    DECIMAL: Decimal(0),
    DATE: date_from_days(0),
    TIME: time_from_millis(0),
    TIMESTAMP: timestamp_from_millis(0),
}
Column = Sequence[ConnectValue]


@dataclass(frozen=True, slots=True)
class ArrowType:
    """What a Connect schema is in Arrow."""

    type: pa.DataType
    """Arrow's type."""
    array: Callable[[Column], pa.Array]
    """Makes an array of values; raises what Arrow and Python raise for values that do not fit."""


def arrow_type(schema: Schema) -> ArrowType:
    """Translate a schema.

    Raises:
        DataError: Arrow cannot say it.
    """
    default = schema.default
    if default is None:
        return _type(schema)
    found = _type(schema)
    array = found.array
    return ArrowType(
        found.type, lambda values: array([default if value is None else value for value in values])
    )


def _type(schema: Schema) -> ArrowType:
    logical = _LOGICAL.get(schema.name or "")
    if logical is not None:
        return logical(schema)
    match schema.type:
        case SchemaType.STRUCT:
            return _struct(schema)
        case SchemaType.ARRAY:
            return _list(schema)
        case SchemaType.MAP:
            return _map(schema)
    plain = _PLAIN[schema.type]
    return ArrowType(plain, lambda values: pa.array(values, plain))


def fields_of(schema: Schema) -> list[tuple[pa.Field, ArrowType]]:
    """Return Arrow's field of each field of a struct.

    Raises:
        DataError: Arrow cannot say one of them.
    """
    types = [arrow_type(field.schema) for field in schema.fields]
    return [
        (pa.field(field.name, found.type, nullable=field.schema.optional), found)
        for field, found in zip(schema.fields, types, strict=True)
    ]


def columns_of(fields: Sequence[tuple[pa.Field, ArrowType]], rows: Sequence[Column]) -> list[pa.Array]:
    """Return an array for each field of structs, whose values are given row by row.

    Raises:
        DataError: A field is null whose schema does not allow that.
    """
    columns: Sequence[Column] = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
    arrays = [found.array(column) for (_, found), column in zip(fields, columns, strict=True)]
    for (field, _), array in zip(fields, arrays, strict=True):
        _check_nulls(array, f"field {field.name}", nullable=field.nullable)
    return arrays


def _check_nulls(array: pa.Array, what: str, *, nullable: bool) -> None:
    if array.null_count and not nullable:
        raise DataError(f"The {what} is null, and its schema allows for none")


def _struct(schema: Schema) -> ArrowType:
    fields = fields_of(schema)
    unset = _unseen(schema).values
    type_ = pa.struct([field for field, _ in fields])

    def array(values: Column) -> pa.Array:
        missing = [value is None for value in values]
        rows = [unset if value is None else value.values for value in values]
        return pa.StructArray.from_arrays(
            columns_of(fields, rows),
            fields=[field for field, _ in fields],
            mask=pa.array(missing, pa.bool_()),
        )

    return ArrowType(type_, array)


def _unseen(schema: Schema) -> Struct:
    """Return what stands in the columns of a struct where it is null: nobody sees it, and it has to fit."""
    return Struct.of_valid(
        schema, [None if field.schema.optional else _filler(field.schema) for field in schema.fields]
    )


def _filler(schema: Schema) -> ConnectValue:
    if schema.type is SchemaType.STRUCT:
        return _unseen(schema)
    return _FILLERS.get(schema.name or "") or _PLAIN_FILLERS[schema.type]


def _list(schema: Schema) -> ArrowType:
    items = _part(schema.value, "array")
    type_ = pa.list_(pa.field("element", items.type, nullable=_optional(schema.value)))

    def array(values: Column) -> pa.Array:
        offsets = _offsets(values)
        found = items.array([item for value in values if value is not None for item in value])
        _check_nulls(found, "element of a list", nullable=_optional(schema.value))
        return pa.ListArray.from_arrays(offsets, found, type=type_)

    return ArrowType(type_, array)


def _map(schema: Schema) -> ArrowType:
    of_keys, of_items = _part(schema.key, "map"), _part(schema.value, "map")
    type_ = pa.map_(of_keys.type, pa.field("value", of_items.type, nullable=_optional(schema.value)))

    def array(values: Column) -> pa.Array:
        present = [value for value in values if value is not None]
        found = of_keys.array([key for value in present for key in value])
        items = of_items.array([item for value in present for item in value.values()])
        _check_nulls(items, "value in a map", nullable=_optional(schema.value))
        return pa.MapArray.from_arrays(_offsets(values), found, items, type=type_)

    return ArrowType(type_, array)


def _offsets(values: Column) -> pa.Array:
    """Return where each list begins, null for one that is null, and the end of the last."""
    offsets: list[int | None] = []
    end = 0
    for value in values:
        offsets.append(None if value is None else end)
        end += 0 if value is None else len(value)
    return pa.array([*offsets, end], pa.int32())


def _part(schema: Schema | None, what: str) -> ArrowType:
    if schema is None:
        raise DataError(f"Parquet has no {what} whose parts have no schema")
    return arrow_type(schema)


def _optional(schema: Schema | None) -> bool:
    return schema is None or schema.optional


def _decimal(schema: Schema) -> ArrowType:
    scale = decimal_scale(schema)
    digits = int((schema.parameters or {}).get(_PRECISION, _MOST_DIGITS))
    precision = max(1, scale, min(digits, _MOST_DIGITS))
    type_ = pa.decimal128(precision, scale) if precision <= _MOST_DIGITS else pa.decimal256(precision, scale)
    return ArrowType(type_, lambda values: pa.array(values, type_))


def _encoded(
    encode: Callable[[Any], int], stored: pa.DataType, type_: pa.DataType
) -> Callable[[Schema], ArrowType]:
    def array(values: Column) -> pa.Array:
        return pa.array([None if value is None else encode(value) for value in values], stored).cast(type_)

    return lambda schema: ArrowType(type_, array)


_LOGICAL: Final[dict[str, Callable[[Schema], ArrowType]]] = {
    DECIMAL: _decimal,
    DATE: _encoded(date_to_days, pa.int32(), pa.date32()),
    TIME: _encoded(time_to_millis, pa.int32(), pa.time32("ms")),
    TIMESTAMP: _encoded(timestamp_to_millis, pa.int64(), pa.timestamp("ms", tz="UTC")),
}
