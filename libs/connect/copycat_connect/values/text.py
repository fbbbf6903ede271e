"""Values to text: plain at the top, quoted inside of lists and maps."""

from __future__ import annotations

from base64 import b64encode
from datetime import date, datetime, time
from decimal import Decimal

from copycat_connect.data.java import class_text, double_text, float_text, to_text
from copycat_connect.data.java_calendar import DAY_MILLIS, FarDate, FarTimestamp
from copycat_connect.data.logical import (
    date_to_days,
    time_to_millis,
    timestamp_to_millis,
)
from copycat_connect.data.narrow import Float32
from copycat_connect.data.schema import ConnectValue, Schema, SchemaType
from copycat_connect.data.struct import Struct
from copycat_connect.errors import DataError
from copycat_connect.values.date_pattern import DateFields


def value_to_text(schema: Schema | None, value: ConnectValue) -> str | None:
    """Return the text of a value; None for null.

    Args:
        schema: Schema of the value, which distinguishes single from double precision; None for schemaless.
        value: The value.

    Raises:
        DataError: Its class has no text.
    """
    return None if value is None else _text(schema, value, embedded=False)


def date_text(value: date | time | datetime | FarDate | FarTimestamp) -> str:
    """Return a point in time as Kafka Connect prints it.

    Whatever lies before the end of 1970-01-01 is taken for a time of day, midnight for a date.
    """
    millis = date_millis(value)
    fields = DateFields(millis)
    clock = f"{fields.hour:02d}:{fields.minute:02d}:{fields.second:02d}.{fields.millis:03d}Z"
    if millis < DAY_MILLIS:
        return clock
    day = f"{fields.year:04d}-{fields.month:02d}-{fields.day:02d}"
    return day if millis % DAY_MILLIS == 0 else f"{day}T{clock}"


def date_millis(value: date | time | datetime | FarDate | FarTimestamp) -> int:
    """Return the milliseconds since the epoch that Java's Date would hold."""
    if isinstance(value, (datetime, FarTimestamp)):
        return timestamp_to_millis(value)
    return time_to_millis(value) if isinstance(value, time) else date_to_days(value) * DAY_MILLIS


def _text(schema: Schema | None, value: ConnectValue, *, embedded: bool) -> str:
    match value:
        case None:
            text = "null"
        case str():
            text = _quote(value) if embedded else value
        case bool() | int() | Decimal():
            text = to_text(value)
        case float():
            single = schema is not None and schema.type is SchemaType.FLOAT32
            text = float_text(value) if single or type(value) is Float32 else double_text(value)
        case bytes() | bytearray() | memoryview():
            encoded = b64encode(value).decode()
            text = f'"{encoded}"' if embedded else encoded
        case date() | time() | FarDate() | FarTimestamp():
            text = date_text(value)
        case _:
            text = _container_text(schema, value)
    return text


def _container_text(schema: Schema | None, value: ConnectValue) -> str:
    of_keys, of_values = (None, None) if schema is None else (schema.key, schema.value)
    match value:
        case list() | tuple():
            return "[" + ",".join(_text(of_values, item, embedded=True) for item in value) + "]"
        case dict():
            pairs = (
                f"{_text(of_keys, key, embedded=True)}:{_text(of_values, item, embedded=True)}"
                for key, item in value.items()
            )
            return "{" + ",".join(pairs) + "}"
        case Struct():
            members = (
                f"{_quote(field.name)}:{_text(field.schema, value.get(field), embedded=True)}"
                for field in value.schema.fields
            )
            return "{" + ",".join(members) + "}"
        case _:
            raise DataError(f"Failed to serialize unexpected value type {class_text(value)}: {value}")


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
