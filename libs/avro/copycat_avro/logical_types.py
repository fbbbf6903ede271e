"""Connect's logical types in Avro's terms, and their values as the plain numbers and bytes written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from copycat_connect.data import ConnectValue, Schema
from copycat_connect.data import logical as connect
from copycat_connect.errors import DataError

from copycat_avro.names import FIXED_SIZE, is_fixed

ToAvro = Callable[[ConnectValue], ConnectValue]
"""Turns a value into what fastavro takes, or back."""

AVRO_NAMES: Final[Mapping[str, str]] = {
    connect.DECIMAL: "decimal",
    connect.DATE: "date",
    connect.TIME: "time-millis",
    connect.TIMESTAMP: "timestamp-millis",
}
_WRITERS: Final[Mapping[str, ToAvro]] = {
    connect.DATE: connect.date_to_days,
    connect.TIME: connect.time_to_millis,
    connect.TIMESTAMP: connect.timestamp_to_millis,
}
_READERS: Final[Mapping[str, ToAvro]] = {
    connect.DATE: connect.date_from_days,
    connect.TIME: connect.time_from_millis,
    connect.TIMESTAMP: connect.timestamp_from_millis,
}


def logical_writer(schema: Schema) -> ToAvro | None:
    """Return how values of a logical type are written; None when the schema is of none."""
    if schema.name == connect.DECIMAL:
        write = partial(connect.decimal_to_bytes, schema)
        if not is_fixed(schema):
            return write
        size = int((schema.parameters or {})[FIXED_SIZE])
        return lambda value: _padded(write(value), size)
    return _WRITERS.get(schema.name or "")


def logical_reader(schema: Schema) -> ToAvro | None:
    """Return how values of a logical type are read; None when the schema is of none."""
    if schema.name == connect.DECIMAL:
        return partial(connect.decimal_from_bytes, schema)
    return _READERS.get(schema.name or "")


def _padded(unscaled: bytes, size: int) -> bytes:
    if len(unscaled) > size:
        message = f"A decimal needs {len(unscaled)} bytes, its fixed type has {size}: use a wider type."
        raise DataError(message)
    return (b"\xff" if unscaled[0] & 0x80 else b"\0") * (size - len(unscaled)) + unscaled
