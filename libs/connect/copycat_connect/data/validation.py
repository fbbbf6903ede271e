"""Validation: does a value fit a schema? Texts are Kafka Connect's."""

from __future__ import annotations

import struct as binary
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Protocol

from copycat_connect.data.java import class_text, to_text
from copycat_connect.data.java_calendar import FarDate, FarTimestamp
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP
from copycat_connect.data.schema import ConnectValue, Schema, SchemaType
from copycat_connect.errors import DataError

Check = Callable[[ConnectValue], bool]


class _Structure(Protocol):
    """What is asked of a Struct, which itself asks this module."""

    schema: Schema

    def validate(self) -> None: ...


def _integer(bits: int) -> Check:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def fits(value: ConnectValue) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return fits


def _float32(value: ConnectValue) -> bool:
    if not isinstance(value, float):
        return False
    try:
        binary.pack("<f", value)
    except OverflowError:
        return False
    return True


def _is_struct(value: ConnectValue) -> bool:
    return getattr(type(value), "java_class", None) == "org.apache.kafka.connect.data.Struct"


_PHYSICAL: dict[SchemaType, Check] = {
    SchemaType.INT8: _integer(8),
    SchemaType.INT16: _integer(16),
    SchemaType.INT32: _integer(32),
    SchemaType.INT64: _integer(64),
    SchemaType.FLOAT32: _float32,
    SchemaType.FLOAT64: lambda value: isinstance(value, float),
    SchemaType.BOOLEAN: lambda value: isinstance(value, bool),
    SchemaType.STRING: lambda value: isinstance(value, str),
    SchemaType.BYTES: lambda value: isinstance(value, (bytes, bytearray, memoryview)),
    SchemaType.ARRAY: lambda value: isinstance(value, Sequence) and not isinstance(value, (str, bytes)),
    SchemaType.MAP: lambda value: isinstance(value, Mapping),
    SchemaType.STRUCT: _is_struct,
}
_LOGICAL: dict[str, Check] = {
    DECIMAL: lambda value: isinstance(value, Decimal),
    DATE: lambda value: isinstance(value, (date, FarDate)) and not isinstance(value, datetime),
    TIME: lambda value: isinstance(value, time),
    TIMESTAMP: lambda value: isinstance(value, (datetime, FarTimestamp)),
}


def validate_value(schema: Schema | None, value: ConnectValue, location: str = "value") -> None:
    """Check that a value fits a schema, as deep as it goes.

    Args:
        schema: The schema.
        value: The value.
        location: What the error text calls the value.

    Raises:
        DataError: It does not fit.
    """
    if schema is None:
        raise DataError(f"No schema defined for {location}")
    if value is None:
        if not schema.optional:
            raise DataError(f"Invalid value: null used for required {location}, schema type: {schema.type}")
        return
    fits = _LOGICAL.get(schema.name) if schema.name is not None else None
    if not (fits or _PHYSICAL[schema.type])(value):
        named = f' "{schema.name}"' if schema.name is not None else ""
        found = f"{class_text(value)} for {location}"
        raise DataError(f"Invalid Java object for schema{named} with type {schema.type}: {found}")
    if fits is None:
        _validate_inside(schema, value, location)


def _validate_inside(schema: Schema, value: ConnectValue, location: str) -> None:
    if schema.type is SchemaType.STRUCT:
        struct: _Structure = value
        if not schema.admits_struct(struct.schema):
            raise DataError("Struct schemas do not match.")
        struct.validate()
    elif schema.type is SchemaType.ARRAY:
        for item in value:
            validate_value(schema.value, item, f"element of array {location}")
    elif schema.type is SchemaType.MAP:
        for key, item in value.items():
            validate_value(schema.key, key, f"key of map {location}")
            validate_value(schema.value, item, f"value of map {location}")


def check_header(schema: Schema | None, value: ConnectValue) -> None:
    """Check that a header's value fits its schema, not looking inside containers.

    Raises:
        DataError: It does not fit.
    """
    if schema is None:
        return
    if value is None:
        if not schema.optional:
            raise DataError(f"A null value requires an optional schema but was {schema}")
        return
    fits = _LOGICAL.get(schema.name) if schema.name is not None else None
    if not (fits or _PHYSICAL[schema.type])(value):
        raise DataError(f"The value {to_text(value)} is not compatible with the schema {schema}")
