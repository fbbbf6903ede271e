"""The forms TimestampConverter knows: how each is read to a point in time, and written from one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time

from copycat_connect.data import (
    DATE_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_DATE_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    OPTIONAL_TIME_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    FarDate,
    FarTimestamp,
    Schema,
    SchemaType,
    logical,
)
from copycat_connect.data.java import class_text
from copycat_connect.data.java_calendar import DAY_MILLIS
from copycat_connect.errors import ConnectError, DataError
from copycat_connect.values.date_pattern import DatePattern
from copycat_connect.values.text import date_millis

NAMES = ("string", "unix", "Date", "Time", "Timestamp")
SCHEMAS: Mapping[str, tuple[Schema, Schema]] = {
    "string": (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA),
    "unix": (INT64_SCHEMA, OPTIONAL_INT64_SCHEMA),
    "Date": (DATE_SCHEMA, OPTIONAL_DATE_SCHEMA),
    "Time": (TIME_SCHEMA, OPTIONAL_TIME_SCHEMA),
    "Timestamp": (TIMESTAMP_SCHEMA, OPTIONAL_TIMESTAMP_SCHEMA),
}
"""The required and the optional schema of each form."""
PRECISIONS: Mapping[str, tuple[int, int]] = {
    "nanoseconds": (1_000_000, 1),
    "microseconds": (1_000, 1),
    "milliseconds": (1, 1),
    "seconds": (1, 1_000),
}
"""How many of the unit there are in how many milliseconds."""
_MAX_INT64 = (1 << 63) - 1
_BY_NAME = {logical.TIMESTAMP: "Timestamp", logical.DATE: "Date", logical.TIME: "Time"}
_BY_TYPE = {SchemaType.STRING: "string", SchemaType.INT64: "unix"}


def form_of(schema: Schema | None, value: ConnectValue) -> str:
    """Return the form a value has.

    Raises:
        ConnectError: Its schema is of none of them.
        DataError: It is schemaless, and has none of them.
    """
    if schema is not None:
        form = _BY_NAME.get(schema.name or "") or _BY_TYPE.get(schema.type)
        if form is None:
            raise ConnectError(f"Schema {schema} does not correspond to a known timestamp type format")
        return form
    if isinstance(value, _DATES):
        return "Timestamp"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int) and not isinstance(value, bool):
        return "unix"
    raise DataError(f"TimestampConverter does not support {class_text(value)} objects as timestamps")


_DATES = (datetime, date, time, FarDate, FarTimestamp)
_EXPECTED: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "string timestamp to be a String"),
    "unix": ((int,), "Unix timestamp to be a Long"),
    "Date": (_DATES, "Date to be a java.util.Date"),
    "Time": (_DATES, "Time to be a java.util.Date"),
    "Timestamp": (_DATES, "Timestamp to be a java.util.Date"),
}
"""What the values of a form are, and how the refusal of others names it."""


@dataclass(frozen=True, slots=True)
class TimestampFormats:
    """Converts a time between text, a number of Unix time, Date, Time and Timestamp."""

    text: str
    """The pattern as configured."""
    pattern: DatePattern | None
    """The pattern, or None."""
    precision: str
    """Unit of the form `unix`."""

    def convert(self, value: ConnectValue, source: str, target: str) -> ConnectValue:
        """Return a value in another form; null stays null.

        Raises:
            DataError: It is not of the form its schema says, or a text does not match the pattern.
        """
        if value is None:
            return None
        millis = self._read(value, source)
        match target:
            case "string":
                result: ConnectValue = self._write_text(millis)
            case "unix":
                result = self._write_unix(millis)
            case "Date":
                result = logical.date_from_days(millis // DAY_MILLIS)
            case "Time":
                result = logical.time_from_millis(millis % DAY_MILLIS)
            case _:
                result = logical.timestamp_from_millis(millis)
        return result

    def _read(self, value: ConnectValue, source: str) -> int:
        _check(value, source)
        if source == "string":
            return self._read_text(value)
        if source == "unix":
            units, millis = PRECISIONS[self.precision]
            return _long(value * millis, units)
        return date_millis(value)

    def _read_text(self, value: str) -> int:
        if self.pattern is None:
            raise DataError("Timestamps in texts cannot be read without a pattern: set the key format")
        millis = self.pattern.parse(value)
        if millis is None:
            raise DataError(
                f"Could not parse timestamp: value ({value}) does not match pattern ({self.text})"
            )
        return millis

    def _write_text(self, millis: int) -> str:
        assert self.pattern is not None  # the configuration was checked
        return self.pattern.format(millis)

    def _write_unix(self, millis: int) -> int:
        units, of_millis = PRECISIONS[self.precision]
        return _long(millis * units, of_millis)


def _check(value: ConnectValue, source: str) -> None:
    kinds, described = _EXPECTED[source]
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise DataError(f"Expected {described}, but found {class_text(value)}")


def _long(number: int, divisor: int) -> int:
    """Divide towards zero, and keep what a 64-bit number can hold, as Java's TimeUnit does."""
    quotient = number // divisor if number >= 0 else -(-number // divisor)
    return max(-_MAX_INT64 - 1, min(_MAX_INT64, quotient))
