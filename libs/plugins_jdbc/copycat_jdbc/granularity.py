"""Points in time: what a clock shows, and what `timestamp.granularity` makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from copycat_connect.data import INT64_SCHEMA, STRING_SCHEMA, TIMESTAMP_SCHEMA, ConnectValue, Schema

CONNECT_LOGICAL: Final = "connect_logical"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
_NONE = timedelta()


def micros(moment: datetime) -> int:
    """Return microseconds since the epoch of an aware time."""
    return (moment - _EPOCH) // _MICRO


def moment_at(micros: int) -> datetime:
    """Return the aware time that is so many microseconds after the epoch."""
    return _EPOCH + timedelta(microseconds=micros)


def on_clock(shown: datetime, zone: ZoneInfo) -> datetime:
    """Return the aware time at which a zone's clock showed a time.

    As Java's calendar reads it: what the clock showed twice, at the end of summer time, is the later one;
    what it left out, at the beginning, is an hour later.
    """
    first, second = shown.replace(tzinfo=zone, fold=0), shown.replace(tzinfo=zone, fold=1)
    offset = min(first.utcoffset() or _NONE, second.utcoffset() or _NONE)
    return (shown - offset).replace(tzinfo=UTC)


def _iso(micros: int, zeros: str) -> str:
    return moment_at(micros).strftime("%Y-%m-%dT%H:%M:%S.%f") + zeros


#: Of each granularity the schema, and what makes its value of microseconds since the epoch; none for the
#: logical type.
GRANULARITIES: Final[Mapping[str, tuple[Schema, Callable[[int], ConnectValue] | None]]] = {
    CONNECT_LOGICAL: (TIMESTAMP_SCHEMA, None),
    "micros_long": (INT64_SCHEMA, lambda micros: micros),
    "micros_string": (STRING_SCHEMA, str),
    "micros_iso_datetime_string": (STRING_SCHEMA, lambda micros: _iso(micros, "")),
    "nanos_long": (INT64_SCHEMA, lambda micros: micros * 1000),
    "nanos_string": (STRING_SCHEMA, lambda micros: str(micros * 1000)),
    "nanos_iso_datetime_string": (STRING_SCHEMA, lambda micros: _iso(micros, "000")),
}
