"""The time of a record, by which it is sorted into folders and files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Protocol

from copycat_connect.data import ConnectValue, Struct
from copycat_connect.data.logical import timestamp_to_millis
from copycat_connect.errors import DataError

from copycat_objects.records import RecordColumns

Report = Callable[[RecordColumns, int, DataError], None]
_NUMBER = re.compile(r"-?\d{1,19}")


class RecordTimes(Protocol):
    """Says what a record's time is."""

    @property
    def is_clock(self) -> bool:
        """True where it is that of writing, and not of the record."""

    def of(self, records: RecordColumns, now: int, report: Report) -> tuple[RecordColumns, Sequence[int]]:
        """Return the records that have a time, with the times in ms since 1970; others are reported."""


class Wallclock:
    """The time of writing."""

    is_clock = True

    def of(self, records: RecordColumns, now: int, report: Report) -> tuple[RecordColumns, Sequence[int]]:
        """Return the time by the clock for all; see the port."""
        del report
        return records, [now] * len(records)


class RecordTimestamps:
    """Kafka's timestamps."""

    is_clock = False

    def of(self, records: RecordColumns, now: int, report: Report) -> tuple[RecordColumns, Sequence[int]]:
        """Return the timestamps; see the port."""
        del now
        if None in records.timestamps:
            return _each(records, lambda place: _known(records.timestamps[place]), report)
        return records, records.timestamps  # type: ignore[return-value]  # none of them is None


class FieldTimes:
    """A field of the value, of a struct or a map in it for a name with points."""

    is_clock = False

    def __init__(self, field: str) -> None:
        """Use a field."""
        self._field = field

    def of(self, records: RecordColumns, now: int, report: Report) -> tuple[RecordColumns, Sequence[int]]:
        """Return the times in the fields; see the port."""
        del now
        return _each(records, lambda place: self._time(records.values[place]), report)

    def _time(self, value: ConnectValue) -> int:
        value = field_at(value, self._field, "timestamp.field")
        try:
            return millis_of(value)
        except ValueError as error:
            raise DataError(
                f"The field {self._field} of 'timestamp.field' holds a {type(value).__name__} that is "
                "no time; "
                "expected ms since 1970, a Timestamp, or text as in ISO 8601"
            ) from error


def field_at(value: ConnectValue, path: str, key: str) -> ConnectValue:
    """Return a field of a struct or a map: the one of that name, else the one that its points lead to.

    Raises:
        DataError: There is no such field.
    """
    if _has(value, path):
        return _member(value, path)
    found = value
    for name in path.split("."):
        if not _has(found, name):
            raise DataError(f"The value ({type(value).__name__}) has no field {path}, which '{key}' names")
        found = _member(found, name)
    return found


def _has(value: ConnectValue, name: str) -> bool:
    if isinstance(value, Struct):
        return value.schema.field(name) is not None
    return isinstance(value, dict) and name in value


def _member(value: Struct | dict[ConnectValue, ConnectValue], name: str) -> ConnectValue:
    return value.get(name)


def millis_of(value: ConnectValue) -> int:
    """Return the time in a value, in ms since 1970.

    Raises:
        ValueError: It has no time.
    """
    match value:
        case bool():
            raise ValueError
        case int():
            return value
        case float() | Decimal() if math.isfinite(value):
            return int(value)
        case datetime():
            return timestamp_to_millis(value)
        case date():
            return timestamp_to_millis(datetime(value.year, value.month, value.day, tzinfo=UTC))
        case str() if _NUMBER.fullmatch(value):
            return int(value)
        case str():
            return timestamp_to_millis(datetime.fromisoformat(value))
    raise ValueError


def _known(timestamp: int | None) -> int:
    if timestamp is None:
        raise DataError("The record has no timestamp, which 'timestamp.extractor=Record' needs")
    return timestamp


def _each(
    records: RecordColumns, time: Callable[[int], int], report: Report
) -> tuple[RecordColumns, Sequence[int]]:
    times: list[int] = []
    keep: list[bool] = []
    for place in range(len(records)):
        try:
            times.append(time(place))
        except DataError as error:
            report(records, place, error)
            keep.append(False)
        else:
            keep.append(True)
    return records.where(keep), times
