"""Logical types: a name on a physical type that gives its values another Python class.

Decimal is `decimal.Decimal`, Date `datetime.date`, Time `datetime.time` and Timestamp an aware
`datetime.datetime`; outside of the years 1 to 9999, which Python's classes cannot hold, FarDate and
FarTimestamp stand for them. All have millisecond precision on the wire; finer parts are cut off.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from copycat_connect.data.java_calendar import FarDate, FarTimestamp
from copycat_connect.data.schema import Schema, SchemaType
from copycat_connect.errors import DataError

DECIMAL = "org.apache.kafka.connect.data.Decimal"
DATE = "org.apache.kafka.connect.data.Date"
TIME = "org.apache.kafka.connect.data.Time"
TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"

SCALE = "scale"
_DAY_MILLIS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI = timedelta(milliseconds=1)


def decimal_schema(scale: int, *, optional: bool = False) -> Schema:
    """Return the schema of decimals with that many digits after the point."""
    return Schema(
        SchemaType.BYTES, optional=optional, name=DECIMAL, version=1, parameters={SCALE: str(scale)}
    )


DATE_SCHEMA = Schema(SchemaType.INT32, name=DATE, version=1)
TIME_SCHEMA = Schema(SchemaType.INT32, name=TIME, version=1)
TIMESTAMP_SCHEMA = Schema(SchemaType.INT64, name=TIMESTAMP, version=1)
OPTIONAL_DATE_SCHEMA = Schema(SchemaType.INT32, optional=True, name=DATE, version=1)
OPTIONAL_TIME_SCHEMA = Schema(SchemaType.INT32, optional=True, name=TIME, version=1)
OPTIONAL_TIMESTAMP_SCHEMA = Schema(SchemaType.INT64, optional=True, name=TIMESTAMP, version=1)


def decimal_scale(schema: Schema) -> int:
    """Return the scale a Decimal schema asks for."""
    text = (schema.parameters or {}).get(SCALE)
    if text is None:
        raise DataError("Invalid Decimal schema: scale parameter not found.")
    try:
        return int(text)
    except ValueError as error:
        raise DataError("Invalid scale parameter found in Decimal schema: ") from error


def scale_of(value: Decimal) -> int:
    """Return the digits after the point, negative for a value such as 1E+3."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise DataError(f"Decimal value {value} is no number")
    return -exponent


def unscaled(value: Decimal) -> int:
    """Return the digits of a decimal as one integer."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)) or "0")
    return -number if sign else number


def decimal_to_bytes(schema: Schema, value: Decimal) -> bytes:
    """Encode the unscaled integer big-endian in as few bytes as hold its sign."""
    wanted, given = decimal_scale(schema), scale_of(value)
    if wanted != given:
        raise DataError(
            "Decimal value has mismatching scale for given Decimal schema. "
            f"Schema has scale {wanted}, value has scale {given}."
        )
    return integer_to_bytes(unscaled(value))


def integer_to_bytes(number: int) -> bytes:
    """Encode an integer as Java's BigInteger does: two's complement, big-endian, shortest."""
    bits = number.bit_length() if number >= 0 else (number + 1).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def decimal_from_bytes(schema: Schema, encoded: bytes) -> Decimal:
    """Decode what `decimal_to_bytes` wrote.

    Raises:
        DataError: There are no bytes, or the schema says no scale.
    """
    if not encoded:
        raise DataError("Zero length BigInteger")
    sign, digits, _ = Decimal(int.from_bytes(encoded, "big", signed=True)).as_tuple()
    return Decimal((sign, digits, -decimal_scale(schema)))


def date_to_days(value: date | FarDate) -> int:
    """Encode days since the epoch."""
    if isinstance(value, FarDate):
        return value.days
    return value.toordinal() - _EPOCH.toordinal()


def date_from_days(days: int) -> date | FarDate:
    """Decode days since the epoch."""
    try:
        return date.fromordinal(days + _EPOCH.toordinal())
    except (ValueError, OverflowError):
        return FarDate(days)


def time_to_millis(value: time) -> int:
    """Encode milliseconds since midnight."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def time_from_millis(millis: int) -> time:
    """Decode milliseconds since midnight."""
    if not 0 <= millis < _DAY_MILLIS:
        raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
    return (_EPOCH + millis * _MILLI).time()


def timestamp_to_millis(value: datetime | FarTimestamp) -> int:
    """Encode milliseconds since the epoch; a naive value counts as UTC."""
    if isinstance(value, FarTimestamp):
        return value.millis
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MILLI


def timestamp_from_millis(millis: int) -> datetime | FarTimestamp:
    """Decode milliseconds since the epoch, as UTC."""
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        return FarTimestamp(millis)
