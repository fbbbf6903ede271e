"""Values of the data model as Arrow, for engines that take columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP, decimal_scale
from copycat_connect.errors import DataError

_MAX_DECIMAL_DIGITS = 38
_SCALARS: Mapping[SchemaType, Callable[[], pa.DataType]] = {
    SchemaType.INT8: pa.int8,
    SchemaType.INT16: pa.int16,
    SchemaType.INT32: pa.int32,
    SchemaType.INT64: pa.int64,
    SchemaType.FLOAT32: pa.float32,
    SchemaType.FLOAT64: pa.float64,
    SchemaType.BOOLEAN: pa.bool_,
    SchemaType.STRING: pa.string,
    SchemaType.BYTES: pa.binary,
}
_LOGICAL: Mapping[str, Callable[[Schema], pa.DataType]] = {
    DATE: lambda _: pa.date32(),
    TIME: lambda _: pa.time64("us"),
    TIMESTAMP: lambda _: pa.timestamp("us", tz="UTC"),
    DECIMAL: lambda schema: pa.decimal128(_MAX_DECIMAL_DIGITS, decimal_scale(schema)),
}


def arrow_type(schema: Schema | None) -> pa.DataType:
    """Return the Arrow type of a schema's values."""
    assert schema is not None  # schemas of members are there
    logical = _LOGICAL.get(schema.name or "")
    if logical is not None:
        return logical(schema)
    match schema.type:
        case SchemaType.STRUCT:
            return pa.struct([(field.name, arrow_type(field.schema)) for field in schema.fields])
        case SchemaType.ARRAY:
            return pa.list_(arrow_type(schema.value))
        case SchemaType.MAP:
            return pa.map_(arrow_type(schema.key), arrow_type(schema.value))
        case scalar:
            return _SCALARS[scalar]()


def arrow_column(name: str, kind: pa.DataType, values: Sequence[ConnectValue]) -> pa.Array:
    """Return values as a column; structs count as maps, members a value does not have are null.

    Raises:
        DataError: A value is of another type.
    """
    try:
        plain = [_plain(value) for value in values]
        if "map<" in str(kind):
            for value in plain:
                _refuse_lists_as_maps(kind, value)
        return pa.array(plain, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"The {name} does not fit {name}.schema: {error}") from error


def _plain(value: ConnectValue) -> ConnectValue:
    if isinstance(value, Struct):
        return {field.name: _plain(value.get(field)) for field in value.schema.fields}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _refuse_lists_as_maps(kind: pa.DataType, value: ConnectValue) -> None:
    """Raise TypeError for a list where a map is wanted: Arrow ends the process when it holds a null."""
    if isinstance(value, list) and pa.types.is_map(kind):
        raise TypeError("a list stands where a map is wanted")
    for part_kind, part in _parts(kind, value):
        _refuse_lists_as_maps(part_kind, part)


def _parts(kind: pa.DataType, value: ConnectValue) -> Iterator[tuple[pa.DataType, ConnectValue]]:
    if isinstance(value, list):
        return ((kind.value_type, item) for item in value if pa.types.is_list(kind))
    if not isinstance(value, dict):
        return iter(())
    if pa.types.is_map(kind):
        return ((kind.item_type, item) for item in value.values())
    return ((field.type, value.get(field.name)) for field in (kind if pa.types.is_struct(kind) else ()))
