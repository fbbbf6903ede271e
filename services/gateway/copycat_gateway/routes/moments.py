"""The query parameter `at` of what can be shown as it was; Kafka Connect has none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from litestar.di import Provide
from litestar.params import QueryParameter

from copycat_gateway.history.moments import moment_ms

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
