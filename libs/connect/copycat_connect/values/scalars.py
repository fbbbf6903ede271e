"""Single values in text: numbers in the narrowest type that holds them, dates, times and timestamps."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

from copycat_connect.data.java import round_to_float32
from copycat_connect.data.java_calendar import DAY_MILLIS, day_number
from copycat_connect.data.logical import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    date_from_days,
    decimal_schema,
    scale_of,
    time_from_millis,
    timestamp_from_millis,
)
from copycat_connect.data.schema import (
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    Schema,
    SchemaAndValue,
)

INTEGERS = ((8, INT8_SCHEMA), (16, INT16_SCHEMA), (32, INT32_SCHEMA), (64, INT64_SCHEMA))
_NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d+)?")
_DAY = r"(?P<year>\d+)-\s*(?P<month>-?\d+)-\s*(?P<day>-?\d+)"
_CLOCK = r"(?P<hour>\d+):\s*(?P<minute>-?\d+):\s*(?P<second>-?\d+)\.\s*(?P<milli>-?\d+)Z"
_TEMPORALS: dict[int, tuple[re.Pattern[str], Schema]] = {
    10: (re.compile(_DAY), DATE_SCHEMA),
    13: (re.compile(_CLOCK), TIME_SCHEMA),
    24: (re.compile(f"{_DAY}T{_CLOCK}"), TIMESTAMP_SCHEMA),
}


def parse_number(text: str) -> SchemaAndValue | None:
    """Return the number a text is, in the narrowest type; None for another text.

    Fractions become FLOAT32 when that is finite, digits lost or not; that is Kafka Connect's way.
    """
    if not _NUMBER.fullmatch(text):
        return None
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    return _integer(exact) or _fraction(exact)


def _integer(exact: Decimal) -> SchemaAndValue | None:
    # A huge exponent must not be expanded; 64 bits are at most 19 digits.
    if not exact or (exact.adjusted() <= 19 and exact == exact.to_integral_value()):
        number = int(exact)
        for bits, schema in INTEGERS:
            if -(1 << bits - 1) <= number < 1 << bits - 1:
                return SchemaAndValue(schema, number)
    if scale_of(exact) == 0:
        return SchemaAndValue(decimal_schema(0), exact)
    return None


def _fraction(exact: Decimal) -> SchemaAndValue:
    double = float(exact)
    single = round_to_float32(double)
    if math.isfinite(single):
        return SchemaAndValue(FLOAT32_SCHEMA, single)
    if math.isfinite(double):
        return SchemaAndValue(FLOAT64_SCHEMA, double)
    return SchemaAndValue(decimal_schema(scale_of(exact)), exact)


def parse_temporal(text: str) -> SchemaAndValue | None:
    """Return the date, time or timestamp a text is, judged by its length; None for another text.

    Parts beyond their range carry over, as in Java: the 45th of a month lies in a later one.
    """
    plain = text.replace("\\:", ":")
    pattern, schema = _TEMPORALS.get(len(plain), (None, None))
    found = pattern.match(plain) if pattern is not None else None
    if found is None or schema is None:
        return None
    parts = {name: int(part) for name, part in found.groupdict().items()}
    days = day_number(parts.get("year", 1970), parts.get("month", 1), parts.get("day", 1))
    seconds = (parts.get("hour", 0) * 60 + parts.get("minute", 0)) * 60 + parts.get("second", 0)
    millis = days * DAY_MILLIS + seconds * 1000 + parts.get("milli", 0)
    if schema is DATE_SCHEMA:
        return SchemaAndValue(schema, date_from_days(days))
    if schema is TIMESTAMP_SCHEMA:
        return SchemaAndValue(schema, timestamp_from_millis(millis))
    # A clock that goes beyond its day is no time of day: the text stays whole.
    return SchemaAndValue(schema, time_from_millis(millis)) if 0 <= millis < DAY_MILLIS else None
