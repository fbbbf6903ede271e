"""The fields of a point in time that a date pattern shows, by Java's calendar with the weeks of the USA.

A week begins on Sunday, and the first of a year or month is the one its first day lies in
(java.util.GregorianCalendar under an English locale).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from copycat_connect.data.java_calendar import DAY_MILLIS, calendar_day, day_number


class DateFields:
    """A point in time, taken apart in UTC."""

    __slots__ = ("day", "days", "hour", "millis", "minute", "month", "second", "year")

    def __init__(self, millis: int) -> None:
        """Split milliseconds since the epoch."""
        self.days, of_day = divmod(millis, DAY_MILLIS)
        seconds, self.millis = divmod(of_day, 1000)
        minutes, self.second = divmod(seconds, 60)
        self.hour, self.minute = divmod(minutes, 60)
        self.year, self.month, self.day = calendar_day(self.days)

    @property
    def year_of_era(self) -> int:
        """The year counted from 1 in both directions."""
        return self.year if self.year > 0 else 1 - self.year

    @property
    def weekday(self) -> int:
        """Days since Monday."""
        return (self.days + 3) % 7

    @property
    def year_of_week(self) -> int:
        """The year whose week it is: the last days of December may lie in the next year's first week."""
        new_year = day_number(self.year + 1, 1, 1)
        return self.year + (new_year - self.days <= _since_sunday(new_year))


def _since_sunday(days: int) -> int:
    return (days + 4) % 7


def _day_of_year(fields: DateFields) -> int:
    return fields.days - day_number(fields.year, 1, 1) + 1


def _day_of_month(fields: DateFields) -> int:
    """Return which day of its month it is: the month of the cutover has no days 5 to 14."""
    return fields.days - day_number(fields.year, fields.month, 1)


def _week_of_year(fields: DateFields) -> int:
    if fields.year_of_week > fields.year:
        return 1
    new_year = day_number(fields.year, 1, 1)
    return (fields.days - new_year + _since_sunday(new_year)) // 7 + 1


def _week_of_month(fields: DateFields) -> int:
    return (_day_of_month(fields) + _since_sunday(day_number(fields.year, fields.month, 1))) // 7 + 1


#: Pattern letter -> the number it shows.
NUMBERS: Final[Mapping[str, Callable[[DateFields], int]]] = {
    "d": lambda fields: fields.day,
    "D": _day_of_year,
    "F": lambda fields: _day_of_month(fields) // 7 + 1,
    "w": _week_of_year,
    "W": _week_of_month,
    "u": lambda fields: fields.weekday + 1,
    "H": lambda fields: fields.hour,
    "k": lambda fields: fields.hour or 24,
    "K": lambda fields: fields.hour % 12,
    "h": lambda fields: fields.hour % 12 or 12,
    "m": lambda fields: fields.minute,
    "s": lambda fields: fields.second,
    "S": lambda fields: fields.millis,
}
