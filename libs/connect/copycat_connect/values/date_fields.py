"""The numbers a date pattern shows: Java's calendar fields of a point in time, weeks as in the United States.

A week begins on Sunday, and the first of a year or month is the one its first day lies in
(java.util.GregorianCalendar under an English locale).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import MAXYEAR, datetime
from typing import Final


def year_of_week(moment: datetime) -> int:
    """Return the year whose week it is: the last days of December may lie in the next year's first week."""
    if moment.year == MAXYEAR:
        return MAXYEAR
    new_year = moment.replace(year=moment.year + 1, month=1, day=1)
    within = (new_year.date() - moment.date()).days <= _weekday(new_year)
    return moment.year + within


def _weekday(moment: datetime) -> int:
    """Return the days since Sunday."""
    return moment.isoweekday() % 7


def _day_of_year(moment: datetime) -> int:
    return moment.timetuple().tm_yday


def _week_of_year(moment: datetime) -> int:
    if year_of_week(moment) > moment.year:
        return 1
    return (_day_of_year(moment) - 1 + _weekday(moment.replace(month=1, day=1))) // 7 + 1


def _week_of_month(moment: datetime) -> int:
    return (moment.day - 1 + _weekday(moment.replace(day=1))) // 7 + 1


#: Pattern letter -> the number it shows.
NUMBERS: Final[Mapping[str, Callable[[datetime], int]]] = {
    "d": lambda moment: moment.day,
    "D": _day_of_year,
    "F": lambda moment: (moment.day - 1) // 7 + 1,
    "w": _week_of_year,
    "W": _week_of_month,
    "u": lambda moment: moment.isoweekday(),
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: moment.hour % 12 or 12,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
    "S": lambda moment: moment.microsecond // 1000,
}
