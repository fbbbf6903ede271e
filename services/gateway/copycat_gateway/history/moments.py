"""Times in a query: a point in time, or how long ago."""

from __future__ import annotations

from datetime import datetime

from copycat_gateway.errors import BadRequestError
from copycat_gateway.offsets.times import duration, instant


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
