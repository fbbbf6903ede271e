"""The forms TimestampConverter knows: how each is read to a point in time, and written from one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal

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
    Schema,
    SchemaType,
    logical,
)
from copycat_connect.data.java import class_text
from copycat_connect.errors import ConnectError, DataError
from copycat_connect.values.date_pattern import DatePattern

NAMES = ("string", "unix", "Date", "Time", "Timestamp")
SCHEMAS: Mapping[str, tuple[Schema, Schema]] = {
    "string": (STRING_SCHEMA, OPTIONAL_STRING_SCHEMA),
    "unix": (INT64_SCHEMA, OPTIONAL_INT64_SCHEMA),
    "Date": (DATE_SCHEMA, OPTIONAL_DATE_SCHEMA),
    "Time": (TIME_SCHEMA, OPTIONAL_TIME_SCHEMA),
    "Timestamp": (TIMESTAMP_SCHEMA, OPTIONAL_TIMESTAMP_SCHEMA),
}
"""The required and the optional schema of each form."""
PRECISIONS: Mapping[str, Decimal] = {
    "nanoseconds": Decimal(1_000_000),
    "microseconds": Decimal(1_000),
    "milliseconds": Decimal(1),
    "seconds": Decimal("0.001"),
}
"""How many of the unit there are in a millisecond."""
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
            message = f"Schema {schema} does not correspond to a known timestamp type format"
            raise ConnectError(message)
        return form
    if isinstance(value, (datetime, date, time)):
        return "Timestamp"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int) and not isinstance(value, bool):
        return "unix"
    message = f"TimestampConverter does not support {class_text(value)} objects as timestamps"
    raise DataError(message)


@dataclass(frozen=True, slots=True)
class TimestampFormats:
    """Converts between the forms."""

    text: str
    """The pattern as configured."""
    pattern: DatePattern | None
    """The pattern; None when there is none."""
    precision: str
    """Unit of the form `unix`."""

    def convert(self, value: ConnectValue, source: str, target: str) -> ConnectValue:
        """Return a value in another form; null stays null.

        Raises:
            DataError: A text does not match the pattern.
        """
        if value is None:
            return None
        readers: Mapping[str, Callable[[ConnectValue], int]] = {
            "string": self._read_text,
            "unix": self._read_unix,
        }
        millis = readers.get(source, _read_date)(value)
        match target:
            case "string":
                result: ConnectValue = self._write_text(millis)
            case "unix":
                result = self._write_unix(millis)
            case "Date":
                result = logical.timestamp_from_millis(millis).date()
            case "Time":
                result = logical.timestamp_from_millis(millis).time()
            case _:
                result = logical.timestamp_from_millis(millis)
        return result

    def _read_text(self, value: str) -> int:
        moment = self.pattern.parse(value) if self.pattern is not None else None
        if moment is None:
            message = f"Could not parse timestamp: value ({value}) does not match pattern ({self.text})"
            raise DataError(message)
        return logical.timestamp_to_millis(moment)

    def _read_unix(self, value: int) -> int:
        return int(value / PRECISIONS[self.precision])

    def _write_text(self, millis: int) -> str:
        assert self.pattern is not None  # noqa: S101  # the configuration was checked
        return self.pattern.format(logical.timestamp_from_millis(millis))

    def _write_unix(self, millis: int) -> int:
        return int(millis * PRECISIONS[self.precision])


def _read_date(value: date | time | datetime) -> int:
    if isinstance(value, datetime):
        return logical.timestamp_to_millis(value)
    if isinstance(value, date):
        return logical.timestamp_to_millis(datetime.combine(value, time(), tzinfo=UTC))
    return logical.time_to_millis(value)
