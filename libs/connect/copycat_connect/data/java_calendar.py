"""Java's calendar, for dates of any year: Julian until 1582-10-04, Gregorian from 1582-10-15 on.

Python's `datetime` counts by the Gregorian calendar alone, and by the years 1 to 9999 only. A year here is
astronomical: 0 is the year 1 before Christ, -1 the year 2. Days are counted from 1970-01-01.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final, NamedTuple

#: 1582-10-15, the first day of the Gregorian calendar.
FIRST_GREGORIAN_DAY: Final = -141_427
_LAST_JULIAN_YEAR: Final = 1582
DAY_MILLIS: Final = 86_400_000
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_LAST_DAY: Final = date.max.toordinal() - _EPOCH_ORDINAL
# Counted from the first of March of year 0, so that a leap day ends its year.
_GREGORIAN_START: Final = -719_468
_JULIAN_START: Final = -719_470
_FOUR_YEARS: Final = 1461
_CENTURIES_DAYS: Final = 146_097
_NAMES_OF_DAYS: Final = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")
_NAMES_OF_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_JAVA_CLASS: Final = "java.util.Date"


class CalendarDay(NamedTuple):
    """A day of Java's calendar."""

    year: int
    """Astronomical year."""
    month: int
    """1 to 12."""
    day: int
    """1 to 31."""


def calendar_day(days: int) -> CalendarDay:
    """Return the year, month and day of a day."""
    if FIRST_GREGORIAN_DAY <= days <= _LAST_DAY:
        found = date.fromordinal(days + _EPOCH_ORDINAL)
        return CalendarDay(found.year, found.month, found.day)
    if days < FIRST_GREGORIAN_DAY:
        era, rest = divmod(days - _JULIAN_START, _FOUR_YEARS)
        year = era * 4 + (rest - rest // 1460) // 365
        start = (year % 4) * 365
    else:
        era, rest = divmod(days - _GREGORIAN_START, _CENTURIES_DAYS)
        of_era = (rest - rest // 1460 + rest // 36_524 - rest // 146_096) // 365
        year = era * 400 + of_era
        start = of_era * 365 + of_era // 4 - of_era // 100
    from_march = rest - start
    month = (5 * from_march + 2) // 153
    day = from_march - (153 * month + 2) // 5 + 1
    return CalendarDay(year + month // 10, (month + 2) % 12 + 1, day)


def day_number(year: int, month: int, day: int) -> int:
    """Return which day it is; parts beyond their range carry over.

    The ten days left out in October 1582 count on by the Julian calendar, and so do parts that carry a year
    before it beyond them: as in Java.
    """
    years, place = divmod(month - 1, 12)
    gregorian = _number(year + years, place, _GREGORIAN_START, gregorian=True) + day - 1
    if year >= _LAST_JULIAN_YEAR and gregorian >= FIRST_GREGORIAN_DAY:
        return gregorian
    return _number(year + years, place, _JULIAN_START, gregorian=False) + day - 1


def day_of_year_number(year: int, day_of_year: int) -> int:
    """Return which day the n-th day of a year is; the year 1582 counts on by the Julian calendar."""
    gregorian = _number(year, 0, _GREGORIAN_START, gregorian=True) + day_of_year - 1
    if year > _LAST_JULIAN_YEAR and gregorian >= FIRST_GREGORIAN_DAY:
        return gregorian
    return _number(year, 0, _JULIAN_START, gregorian=False) + day_of_year - 1


def _number(year: int, place: int, start: int, *, gregorian: bool) -> int:
    if place < 2:
        year -= 1
    of_year = (153 * ((place - 2) % 12) + 2) // 5
    if not gregorian:
        era, rest = divmod(year, 4)
        return start + era * _FOUR_YEARS + rest * 365 + of_year
    era, rest = divmod(year, 400)
    return start + era * _CENTURIES_DAYS + rest * 365 + rest // 4 - rest // 100 + of_year


def java_date_text(millis: int) -> str:
    """Return Java's Date.toString in UTC, e.g. `Tue Nov 14 22:13:20 UTC 2023`.

    Args:
        millis: Milliseconds since the epoch.
    """
    days, of_day = divmod(millis, DAY_MILLIS)
    found = calendar_day(days)
    minutes, seconds = divmod(of_day // 1000, 60)
    weekday, month = _NAMES_OF_DAYS[days % 7], _NAMES_OF_MONTHS[found.month - 1]
    year = found.year if found.year > 0 else 1 - found.year
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"
    return f"{weekday} {month} {found.day:02d} {clock} UTC {year}"


@dataclass(frozen=True, slots=True, order=True)
class FarDate:
    """A day of a Date field that `date` cannot hold."""

    days: int
    """Days since 1970-01-01."""
    java_class: ClassVar[str] = _JAVA_CLASS

    def __str__(self) -> str:
        return java_date_text(self.days * DAY_MILLIS)


@dataclass(frozen=True, slots=True, order=True)
class FarTimestamp:
    """A point in time of a Timestamp field that `datetime` cannot hold."""

    millis: int
    """Milliseconds since the epoch."""
    java_class: ClassVar[str] = _JAVA_CLASS

    def __str__(self) -> str:
        return java_date_text(self.millis)
