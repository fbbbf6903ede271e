"""Columns of dates, times and timestamps: the schema of each, and how its values become Connect's.

A database counts by the Gregorian calendar alone; Java's Date, by default, by the Julian one before that day.
The published connector keeps year, month and day, so that the number of the day is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from copycat_connect.data import DATE_SCHEMA, TIME_SCHEMA, ConnectValue, FarTimestamp
from copycat_connect.data.java_calendar import DAY_MILLIS, FIRST_GREGORIAN_DAY, day_number
from copycat_connect.data.logical import DATE, TIMESTAMP, date_from_days, date_to_days, timestamp_to_millis
from copycat_connect.errors import DataError
from sqlalchemy import types as sql

from copycat_jdbc import postgres_moments
from copycat_jdbc.granularity import GRANULARITIES, micros, moment_at, on_clock
from copycat_jdbc.type_rules import Convert, Moment, Plan, SqlType, TypeRules

_FIRST_MILLIS: Final = FIRST_GREGORIAN_DAY * DAY_MILLIS
_FIRST_DATE: Final = date(1582, 10, 15)
_FIRST_MOMENT: Final = datetime(1582, 10, 15, tzinfo=UTC)
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
#: Less is no time of a calendar, but stands for infinity.
_LEAST_MILLIS: Final = -9_223_000_000_000_000_000


def _legacy_days(column: Sequence[int | None]) -> Sequence[int | None]:
    """Return days since 1970 by Java's calendar."""
    if min((each for each in column if each is not None), default=0) >= FIRST_GREGORIAN_DAY:
        return column
    return [None if each is None else _day(each) for each in column]


def _legacy_millis(column: Sequence[int | None]) -> Sequence[int | None]:
    """Return milliseconds since 1970 by Java's calendar."""
    if min((each for each in column if each is not None), default=0) >= _FIRST_MILLIS:
        return column
    return [None if each is None else each + _shift(each) * DAY_MILLIS for each in column]


def _legacy_date(value: ConnectValue) -> ConnectValue:
    """Return a Date field's value by Java's calendar."""
    if isinstance(value, date) and value >= _FIRST_DATE:
        return value
    found: ConnectValue = date_from_days(_day(date_to_days(value)))
    return found


def _legacy_moment(value: ConnectValue) -> ConnectValue:
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


def moment_plan(type: SqlType, rules: TypeRules) -> Plan | None:
    """Return the plan of a column of dates, times or timestamps; None for one of another type."""
    found = _plan(type, rules)
    if found is not None and rules.legacy_calendar:
        found = _in_calendar(found)
    if found is None or rules.dialect not in ("mysql", "mariadb") or isinstance(type, sql.Time):
        return found
    schema, convert, *_ = found
    first: date = datetime(1, 1, 1) if isinstance(type, sql.DateTime) else date(1, 1, 1)  # noqa: DTZ001  of no zone
    may_be_null = rules.zero_dates == "CONVERT_TO_NULL"
    return replace(schema, optional=may_be_null), _zero_aware(convert, rules.zero_dates, first)


def _zero_aware(convert: Convert | None, zero_dates: str, first: date) -> Convert:
    """Return what reads also the texts that MySQL's driver leaves of what is no day of a calendar."""

    def read(value: Any) -> ConnectValue:
        if isinstance(value, str):
            if not value.startswith("0000-00-00"):
                raise DataError(f"{value} is no day of a calendar; read it as a text by a query or a view")
            if zero_dates == "CONVERT_TO_NULL":
                return None
            if zero_dates != "ROUND":
                raise DataError(
                    f"{value} is no day of a calendar; set zeroDateTimeBehavior=CONVERT_TO_NULL, or ROUND "
                    "for the first day of year 1, in connection.url"
                )
            value = first
        found: ConnectValue = value if convert is None else convert(value)
        return found

    return read


def _plan(type: SqlType, rules: TypeRules) -> Plan | None:
    if isinstance(type, sql.DateTime):
        return _timestamp(type, rules)
    if isinstance(type, sql.Date):
        if rules.dialect == "postgresql":
            return DATE_SCHEMA, postgres_moments.day, postgres_moments.days
        return DATE_SCHEMA, date.fromisoformat if rules.dialect == "sqlite" else None
    if isinstance(type, sql.Time):
        if rules.dialect == "postgresql" and not type.timezone:
            return TIME_SCHEMA, postgres_moments.time_of_day, postgres_moments.times_in_millis
        return TIME_SCHEMA, time_of if rules.dialect != "postgresql" else postgres_moments.time_with_offset
    return None


def _timestamp(type: sql.DateTime, rules: TypeRules) -> Plan:
    schema, written = GRANULARITIES[rules.granularity]
    zone = zone_of(type, rules)
    if rules.dialect != "postgresql":
        if written is None:
            return schema, lambda value: moment_of(value, zone)
        return schema, lambda value: written(micros(moment_of(value, zone)))
    if written is None:
        return schema, postgres_moments.moment(zone), postgres_moments.moments_in_millis(zone)
    return schema, lambda value: written(postgres_moments.epoch_micros(value, zone))


def zone_of(type: sql.DateTime, rules: TypeRules) -> ZoneInfo | None:
    """Return the time zone of a column's values; None where they are of UTC."""
    if rules.dialect == "postgresql":
        return None if type.timezone or rules.zone.key == "UTC" else rules.zone
    in_utc = isinstance(type, sql.TIMESTAMP) and rules.dialect in ("mysql", "mariadb")
    return None if in_utc else rules.zone


def moment_reader(type: SqlType, rules: TypeRules) -> Moment:
    """Return what makes an aware datetime of the values of a column whose changes are followed."""
    zone = zone_of(type, rules) if isinstance(type, sql.DateTime) else rules.zone
    if rules.dialect != "postgresql":
        return lambda value: moment_of(value, zone)
    if isinstance(type, sql.Date):
        return lambda days: moment_at(postgres_moments.days_in_micros(days))
    return lambda value: moment_at(postgres_moments.followed_micros(value, zone))


def moment_of(value: Any, zone: ZoneInfo | None) -> datetime:
    """Return a point in time as an aware datetime.

    Args:
        value: What the driver gave; SQLite gives texts, or milliseconds since the epoch.
        zone: The time zone of what has none; None for UTC.
    """
    if isinstance(value, (int, float)):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    if found.tzinfo is None:
        return found.replace(tzinfo=UTC) if zone is None else on_clock(found, zone)
    moment: datetime = found.astimezone(UTC)
    return moment


def time_of(value: Any) -> time:
    """Return a time of day; MySQL's driver gives a span, SQLite's a text."""
    if isinstance(value, timedelta):
        if not timedelta() <= value < timedelta(days=1):
            seconds = abs(value) // timedelta(seconds=1)
            shown = (
                f"{'-' * (value < timedelta())}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            )
            raise DataError(f"{shown} is no time of a day; read it as a text by a query or a view")
        return (datetime(1970, 1, 1, tzinfo=UTC) + value).time()
    found: time = time.fromisoformat(value) if isinstance(value, str) else value
    return found.replace(tzinfo=None)


def _in_calendar(plan: Plan) -> Plan:
    """Return a plan whose days are those of Java's calendar."""
    schema, convert, *encode = plan
    ways = {DATE: (_legacy_date, _legacy_days), TIMESTAMP: (_legacy_moment, _legacy_millis)}
    if schema.name not in ways:
        return plan
    by_value, by_column = ways[schema.name]
    made: Convert = by_value if convert is None else lambda value: by_value(convert(value))
    if not encode:
        return schema, made
    (before,) = encode
    return schema, made, lambda column: by_column(before(column))
