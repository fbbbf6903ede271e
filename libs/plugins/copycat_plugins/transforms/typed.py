"""Plain Python values in Connect's data model: by their own types, or fitted to a declared schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal, DecimalException
from functools import partial

from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    FarDate,
    FarTimestamp,
    Schema,
    SchemaType,
    Struct,
    decimal_schema,
    validate_value,
)
from copycat_connect.data.logical import DECIMAL, TIMESTAMP, decimal_scale, scale_of
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import DataError

Fit = Callable[[ConnectValue], ConnectValue]

SCHEMAS: Mapping[type, Schema | None] = {
    str: STRING_SCHEMA,
    bool: BOOLEAN_SCHEMA,
    int: INT64_SCHEMA,
    float: FLOAT64_SCHEMA,
    bytes: BYTES_SCHEMA,
    datetime: TIMESTAMP_SCHEMA,
    FarTimestamp: TIMESTAMP_SCHEMA,
    date: DATE_SCHEMA,
    FarDate: DATE_SCHEMA,
    time: TIME_SCHEMA,
    Int8: INT8_SCHEMA,
    Int16: INT16_SCHEMA,
    Int32: INT32_SCHEMA,
    Float32: FLOAT32_SCHEMA,
    dict: None,
    list: None,
}
"""Schema of the values of a type; None for what is schemaless."""


def schema_of(value: ConnectValue) -> Schema | None:
    """Return the schema a value brings with it; None for a map or list, which is schemaless.

    Raises:
        DataError: Values of its type are not in the data model.
    """
    kind = type(value)
    if kind in SCHEMAS:
        return SCHEMAS[kind]
    if isinstance(value, Struct):
        return value.schema
    if isinstance(value, Decimal):
        return decimal_schema(scale_of(value))
    wanted = "str, bytes, bool, int, float, Decimal, date, time, datetime, dict, list or Struct"
    raise DataError(f"{kind.__qualname__} is no type of the data model; give {wanted}")


def fit_to(schema: Schema, place: str = "value") -> Fit:
    """Return what makes a value of the schema out of a plain one, or raises DataError that names the place.

    Maps become structs, ints become floats where those are wanted, decimals get the schema's scale.
    """
    match schema.type:
        case SchemaType.STRUCT:
            inner: Fit = partial(_struct, schema, _members(schema, place), place)
        case SchemaType.ARRAY:
            inner = partial(_array, fit_to(_part(schema.value), f"element of {place}"), place)
        case SchemaType.MAP:
            of_key, of_value = f"key of {place}", f"value of {place}"
            inner = partial(
                _map, fit_to(_part(schema.key), of_key), fit_to(_part(schema.value), of_value), place
            )
        case _:
            inner = _scalar(schema, place)
    return partial(_present, inner, place, schema.optional)


def _part(schema: Schema | None) -> Schema:
    assert schema is not None  # parsed schemas are whole
    return schema


def _present(inner: Fit, place: str, optional: bool, value: ConnectValue) -> ConnectValue:
    if value is not None:
        return inner(value)
    if optional:
        return None
    raise DataError(f"{place} is null but NOT NULL")


def _members(schema: Schema, place: str) -> list[tuple[str, Fit]]:
    prefix = "" if place == "value" else f"{place}."
    return [(field.name, fit_to(field.schema, prefix + field.name)) for field in schema.fields]


def _struct(schema: Schema, members: list[tuple[str, Fit]], place: str, value: ConnectValue) -> ConnectValue:
    if isinstance(value, Struct):
        value = {field.name: value.get(field) for field in value.schema.fields}
    if not isinstance(value, Mapping):
        raise _misfit(place, value, "dict")
    fitted = [fit(value.get(name)) for name, fit in members]
    unknown = value.keys() - (name for name, _ in members)
    if unknown:
        raise DataError(
            f"{place} has fields the schema does not have: {', '.join(sorted(map(str, unknown)))}"
        )
    return Struct.of_valid(schema, fitted)


def _array(fit: Fit, place: str, value: ConnectValue) -> ConnectValue:
    if not isinstance(value, list | tuple):
        raise _misfit(place, value, "list")
    return [fit(item) for item in value]


def _map(fit_key: Fit, fit_value: Fit, place: str, value: ConnectValue) -> ConnectValue:
    if not isinstance(value, Mapping):
        raise _misfit(place, value, "dict")
    return {fit_key(key): fit_value(item) for key, item in value.items()}


def _scalar(schema: Schema, place: str) -> Fit:
    def check(value: ConnectValue) -> ConnectValue:
        validate_value(schema, value, place)
        return value

    if schema.name == DECIMAL:
        return partial(_decimal, Decimal(1).scaleb(-decimal_scale(schema)), place)
    if schema.name == TIMESTAMP:
        return lambda value: _timestamp(check(value))
    if schema.type in (SchemaType.FLOAT32, SchemaType.FLOAT64):
        return lambda value: check(_float(value, place) if type(value) is int else value)
    return check


def _float(value: int, place: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise DataError(f"{place} is too large for a floating-point number") from error


def _decimal(unit: Decimal, place: str, value: ConnectValue) -> ConnectValue:
    if not isinstance(value, Decimal | int) or isinstance(value, bool):
        raise _misfit(place, value, "Decimal")
    try:
        scaled = Decimal(value).quantize(unit)
    except DecimalException as error:
        raise DataError(
            f"{place} does not fit a decimal of {-int(unit.as_tuple().exponent)} digits after the point"
        ) from error
    if scaled != value:
        raise DataError(
            f"{place} has more digits after the point than the schema's {-int(unit.as_tuple().exponent)}"
        )
    return scaled


def _timestamp(value: datetime | FarTimestamp) -> ConnectValue:
    if isinstance(value, FarTimestamp) or value.tzinfo is not None:
        return value
    return value.replace(tzinfo=UTC)


def _misfit(place: str, value: ConnectValue, wanted: str) -> DataError:
    return DataError(f"{place} is of type {type(value).__qualname__} where {wanted} is wanted")
