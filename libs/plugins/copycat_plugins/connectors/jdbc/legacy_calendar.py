"""Dates before 1582-10-15 as Java's own calendar counts them (`date.calendar.system`).

A database counts by the Gregorian calendar alone; Java's Date, by default, by the Julian one before that day.
The published connector keeps year, month and day, so that the number of the day is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from copycat_connect.data import ConnectValue, FarTimestamp
from copycat_connect.data.java_calendar import DAY_MILLIS, FIRST_GREGORIAN_DAY, day_number
from copycat_connect.data.logical import date_from_days, date_to_days, timestamp_to_millis

_FIRST_MILLIS: Final = FIRST_GREGORIAN_DAY * DAY_MILLIS
_FIRST_DATE: Final = date(1582, 10, 15)
_FIRST_MOMENT: Final = datetime(1582, 10, 15, tzinfo=UTC)
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
#: Less is no time of a calendar, but stands for infinity.
_LEAST_MILLIS: Final = -9_223_000_000_000_000_000


def legacy_days(column: Sequence[int | None]) -> Sequence[int | None]:
    """Return days since 1970 by Java's calendar."""
    if min((each for each in column if each is not None), default=0) >= FIRST_GREGORIAN_DAY:
        return column
    return [None if each is None else _day(each) for each in column]


def legacy_millis(column: Sequence[int | None]) -> Sequence[int | None]:
    """Return milliseconds since 1970 by Java's calendar."""
    if min((each for each in column if each is not None), default=0) >= _FIRST_MILLIS:
        return column
    return [None if each is None else each + _shift(each) * DAY_MILLIS for each in column]


def legacy_date(value: ConnectValue) -> ConnectValue:
    """Return a Date field's value by Java's calendar."""
    if isinstance(value, date) and value >= _FIRST_DATE:
        return value
    found: ConnectValue = date_from_days(_day(date_to_days(value)))
    return found


def legacy_moment(value: ConnectValue) -> ConnectValue:
    """Return a Timestamp field's value by Java's calendar."""
    if isinstance(value, datetime) and value >= _FIRST_MOMENT:
        return value
    shift = _shift(timestamp_to_millis(value))
    if isinstance(value, FarTimestamp):
        return FarTimestamp(value.millis + shift * DAY_MILLIS)
    try:
        return value + timedelta(days=shift)
    except OverflowError:
        return FarTimestamp(timestamp_to_millis(value) + shift * DAY_MILLIS)


def _shift(millis: int) -> int:
    """Return how many days later Java's calendar has the same year, month and day."""
    if not _LEAST_MILLIS < millis < _FIRST_MILLIS:
        return 0
    days = millis // DAY_MILLIS
    return _day(days) - days


def _day(days: int) -> int:
    if days >= FIRST_GREGORIAN_DAY:
        return days
    cycles = max(0, -(days + _EPOCH_ORDINAL - 1) // _CYCLE_DAYS + 1)
    found = date.fromordinal(days + _EPOCH_ORDINAL + cycles * _CYCLE_DAYS)
    return day_number(found.year - cycles * _CYCLE_YEARS, found.month, found.day)
