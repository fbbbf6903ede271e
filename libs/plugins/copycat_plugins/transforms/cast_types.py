"""Casts of single values, with Java's narrowing."""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal

from copycat_connect.data import (
    ConnectValue,
    FarDate,
    FarTimestamp,
    Schema,
    SchemaType,
    logical,
    validate_value,
)
from copycat_connect.data.java import class_text, float_text, round_to_float32, to_text
from copycat_connect.errors import DataError
from copycat_connect.values.text import date_text

_INTEGER = re.compile(r"[+-]?[0-9]+")
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_JAVA_FLOAT = re.compile(
    r"[+-]?(NaN|Infinity|(([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+)[fFdD]?)"
)
TARGETS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
    SchemaType.BOOLEAN,
    SchemaType.STRING,
)
DIRECT: Mapping[SchemaType, Mapping[type, Callable[[ConnectValue], ConnectValue]]] = {
    SchemaType.STRING: {str: str, int: str},
    SchemaType.FLOAT64: {int: float, float: float},
    SchemaType.BOOLEAN: {bool: bool, int: bool},
}
"""Casts that need no check, by target and class of the schemaless value."""
_TEMPORALS: dict[str, Callable[[ConnectValue], int]] = {
    logical.DATE: logical.date_to_days,
    logical.TIME: logical.time_to_millis,
    logical.TIMESTAMP: logical.timestamp_to_millis,
}


def cast(schema: Schema | None, value: ConnectValue, target: SchemaType) -> ConnectValue:
    """Return a value as one of another type; null stays null.

    Raises:
        DataError: The value is not of a type that can be cast, or does not fit.
    """
    if value is None:
        return None
    _check_source(schema, value)
    if schema is not None and schema.name in _TEMPORALS and target is not SchemaType.STRING:
        validate_value(schema, value, "what is cast")
        value = _TEMPORALS[schema.name](value)
    if target is SchemaType.STRING:
        return _to_string(schema, value)
    if not isinstance(value, (bool, int, float, Decimal, str)):
        raise DataError(f"Unexpected type in Cast transformation: {class_text(value)}")
    try:
        if target is SchemaType.BOOLEAN:
            return _to_boolean(value)
        return _to_integer(value, _BITS[target]) if target in _BITS else _to_float(value, target)
    except ValueError as error:
        raise DataError(f"Value ({to_text(value)}) was out of range for requested data type") from error


def _check_source(schema: Schema | None, value: ConnectValue) -> None:
    if schema is not None:
        if schema.type in TARGETS or schema.type is SchemaType.BYTES:
            return
        found = str(schema.type)
    elif isinstance(value, (bool, int, float, str, bytes, bytearray, memoryview)):
        return
    elif isinstance(value, (list, dict)):
        found = "ARRAY" if isinstance(value, list) else "MAP"
    else:
        raise DataError(
            f"Cast transformation was passed a value of type {class_text(value)} "
            "which is not supported by Connect's data API"
        )
    supported = ", ".join([*map(str, TARGETS), "BYTES"])
    raise DataError(
        f"Cast transformation does not support casting from {found}; supported types are [{supported}]"
    )


def _wrap(number: int, bits: int) -> int:
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


def _to_integer(value: ConnectValue, bits: int) -> int:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value) or not -(1 << bits - 1) <= int(value) < 1 << bits - 1:
            raise ValueError(value)
        return int(value)
    if isinstance(value, float):
        # Java first saturates to int or long, and only then cuts to the width.
        wide = 64 if bits == 64 else 32
        if math.isnan(value):
            return 0
        high = (1 << wide - 1) - 1
        clipped = (
            max(-high - 1, min(high, int(value)))
            if math.isfinite(value)
            else (high if value > 0 else -high - 1)
        )
        return _wrap(clipped, bits)
    return _wrap(int(value), bits)


def _to_float(value: ConnectValue, target: SchemaType) -> float:
    if isinstance(value, str):
        text = value.strip()
        if not _JAVA_FLOAT.fullmatch(text):
            raise ValueError(value)
        number = _parse_float(text)
    else:
        number = float(value)
    return round_to_float32(number) if target is SchemaType.FLOAT32 else number


def _parse_float(text: str) -> float:
    if "x" in text or "X" in text:
        return float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
    return float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD"))


def _to_boolean(value: ConnectValue) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    if isinstance(value, float) and not math.isfinite(value):
        return not math.isnan(value)
    return int(value) != 0


def _to_string(schema: Schema | None, value: ConnectValue) -> str:
    if isinstance(value, (datetime, date, time, FarDate, FarTimestamp)):
        return date_text(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b64encode(value).decode()
    single = isinstance(value, float) and schema is not None and schema.type is SchemaType.FLOAT32
    return float_text(value) if single else to_text(value)
