"""Times and durations as users write them in a query: `2026-11-20T10:00Z`, `2h`, `1d12h`, `PT2H`."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from copycat_connect.data.java import parse_integer
from litestar.di import Provide
from litestar.params import QueryParameter

from copycat_gateway.errors import BadRequestError

_SHORT: Final = re.compile(r"(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)
_ISO: Final = re.compile(r"p(?:(\d+)w)?(?:(\d+)d)?(?:t(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?", re.ASCII)
_LONGEST: Final = timedelta(days=36_500)
#: What a `+` becomes that is not escaped in a query.
_LOST_PLUS: Final = re.compile(r" \d{2}(:?\d{2})?$")


def duration(text: str) -> timedelta:
    """Return how long a duration is.

    Raises:
        BadRequestError: It is not a duration, not above zero, or longer than a hundred years.
    """
    wanted = text.strip().lower()
    found = _SHORT.fullmatch(wanted) or _ISO.fullmatch(wanted)
    parts = [parse_integer(part or "0", 64) for part in found.groups()] if found else []
    if not any(part != 0 for part in parts):
        raise BadRequestError(
            f"'{text}' is no duration above zero: write weeks, days, hours, minutes and seconds as in 2h, 90m"
            " or 1d12h, or by ISO 8601 as in PT2H"
        )
    weeks, days, hours, minutes, seconds = (sys.maxsize if part is None else part for part in parts)
    try:
        length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        length = timedelta.max
    if length > _LONGEST:
        raise BadRequestError(f"'{text}' is longer than a hundred years: write a shorter duration")
    return length


def instant(text: str) -> datetime:
    """Return a point in time.

    Raises:
        BadRequestError: It is not a time, or has no zone.
    """
    blank = _LOST_PLUS.search(text)
    if blank and "T" in text[: blank.start()]:
        raise BadRequestError(
            f"'{text}' is no point in time: in a URL a + means a blank, so write the + before a zone as %2B"
        )
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise BadRequestError(
            f"'{text}' is no point in time: write it by ISO 8601, as in 2026-11-20T10:00Z"
        ) from error
    if found.tzinfo is None:
        raise BadRequestError(
            f"'{text}' does not say in which zone: append Z for UTC, or what the zone is ahead of it,"
            " as in +01:00"
        )
    return found


def moment_ms(name: str, text: str, now: datetime) -> int:
    """Return the time a query parameter names, milliseconds since the epoch.

    Raises:
        BadRequestError: It names none, or one that is yet to come.
    """
    try:
        found = instant(text) if text.strip()[4:5] == "-" else now - duration(text)
    except (BadRequestError, OverflowError) as error:
        why = f"{error.message}. " if isinstance(error, BadRequestError) else ""
        raise BadRequestError(
            f"The query parameter {name} is no time: {why}Write {name}=2026-11-20T10:00Z, by ISO 8601 with"
            f" its zone, or how long ago, as in {name}=2h or {name}=1d12h"
        ) from error
    if found > now:
        raise BadRequestError(
            f"The query parameter {name} is '{text}', which is yet to come: name a time that has passed, as"
            f" in {name}=2026-11-20T10:00Z or {name}=2h"
        )
    return round(found.timestamp() * 1000)


At = Annotated[
    str | None,
    QueryParameter(
        name="at",
        description="Show it as it was at this time, as in 2026-11-20T10:00Z or 2h (ago); also of a "
        "connector that is deleted.",
    ),
]
PAST: Final = {400: "`at` is no time that has passed."}


async def at_ms(at: At = None) -> int | None:
    """Return the time asked for, milliseconds since the epoch; None for now."""
    return None if at is None else moment_ms("at", at, datetime.now(UTC))


AT: Final = {"at_ms": Provide(at_ms)}
