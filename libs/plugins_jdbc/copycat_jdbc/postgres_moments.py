"""Dates and times of PostgreSQL as the integers of its binary protocol, which need no object each.

Days and microseconds are counted from the year 2000; the greatest and least numbers mean infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from copycat_connect.data import ConnectValue, FarTimestamp
from copycat_connect.data.logical import date_from_days
from copycat_connect.errors import DataError

from copycat_jdbc.granularity import micros, on_clock

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN_EPOCH: Final = _EPOCH.replace(tzinfo=None)
_DAYS_TO_2000: Final = 10957
_MICROS_TO_2000: Final = 946_684_800_000_000
_DAY_MICROS: Final = 86_400_000_000
_INFINITE_DAYS: Final = frozenset({(1 << 31) - 1, -(1 << 31)})
_INFINITY, _MINUS_INFINITY = (1 << 63) - 1, -(1 << 63)
#: What PostgreSQL's JDBC driver has for infinity, in milliseconds.
_INFINITE_MILLIS: Final = {_INFINITY: 9223372036825200000, _MINUS_INFINITY: -9223372036832400000}
#: What `datetime` can hold, in microseconds from 2000, with a day to spare for time zones.
_LEAST: Final = -63_082_281_600_000_000 + _DAY_MICROS
_MOST: Final = 252_455_616_000_000_000 - 2 * _DAY_MICROS

Decode = Callable[[int], ConnectValue]
Encode = Callable[[Sequence[int | None]], Sequence[int | None]]


def epoch_micros(value: int, zone: ZoneInfo | None) -> int:
    """Return microseconds from 1970 of what a timestamp holds.

    Args:
        value: Microseconds from 2000.
        zone: The time zone in which a clock showed that; None when they are of UTC.
    """
    since = value + _MICROS_TO_2000
    if zone is None or not _LEAST <= value <= _MOST:
        return since
    return micros(on_clock(_SHOWN_EPOCH + timedelta(microseconds=since), zone))


def followed_micros(value: int, zone: ZoneInfo | None) -> int:
    """Return microseconds from 1970 of what a followed timestamp holds, within what offsets can say."""
    return epoch_micros(min(max(value, _LEAST), _MOST), zone)


def moment(zone: ZoneInfo | None) -> Decode:
    """Return what makes a Timestamp field's value of what a timestamp holds."""

    def decode(value: int) -> datetime | FarTimestamp:
        if _LEAST <= value <= _MOST:
            return _EPOCH + timedelta(microseconds=epoch_micros(value, zone))
        return FarTimestamp(_millis(value))

    return decode


def moments_in_millis(zone: ZoneInfo | None) -> Encode:
    """Return what makes milliseconds from 1970 of a whole column of timestamps."""

    def encode(column: Sequence[int | None]) -> Sequence[int | None]:
        ends = [value for value in (_INFINITY, _MINUS_INFINITY) if value in column]
        if zone is not None:
            return [
                None if each is None else _millis(each) if each in ends else epoch_micros(each, zone) // 1000
                for each in column
            ]
        if ends or None in column:
            return [None if each is None else _millis(each) for each in column]
        return [(each + _MICROS_TO_2000) // 1000 for each in column if each is not None]

    return encode


def day(value: int) -> ConnectValue:
    """Return a Date field's value of what a date holds."""
    found: ConnectValue = date_from_days(_days(value))
    return found


def days_in_micros(value: int) -> int:
    """Return microseconds from 1970 of the beginning of the day that a date holds."""
    return _days(value) * _DAY_MICROS


def days(column: Sequence[int | None]) -> Sequence[int | None]:
    """Return days from 1970 of a whole column of dates."""
    return [None if each is None else _days(each) for each in column]


def time_of_day(value: int) -> time:
    """Return a Time field's value of microseconds since midnight."""
    return (_EPOCH + timedelta(microseconds=_within_a_day(value))).time()


def time_with_offset(value: tuple[int, int]) -> time:
    """Return the time in UTC of microseconds since midnight and seconds west of UTC."""
    micros, west = value
    return time_of_day((_within_a_day(micros) + west * 1_000_000) % _DAY_MICROS)


def times_in_millis(column: Sequence[int | None]) -> Sequence[int | None]:
    """Return milliseconds since midnight of a whole column of times."""
    return [None if each is None else _within_a_day(each) // 1000 for each in column]


def _millis(value: int) -> int:
    return _INFINITE_MILLIS.get(value) or (value + _MICROS_TO_2000) // 1000


def _days(value: int) -> int:
    if value in _INFINITE_DAYS:
        raise DataError("an infinite date has no counterpart; take it out in a query or a view")
    return value + _DAYS_TO_2000


def _within_a_day(value: int) -> int:
    if not 0 <= value < _DAY_MICROS:
        raise DataError("24:00:00 has no counterpart; take it out in a query or a view")
    return value
