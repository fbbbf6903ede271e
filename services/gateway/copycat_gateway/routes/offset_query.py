"""What offsets requests take in their query: documented additions to Kafka Connect's interface."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from litestar import Request
from litestar.datastructures import State
from litestar.di import Provide
from litestar.params import QueryParameter

from copycat_gateway.offsets.query import DRY_RUN, REWIND, TO, OffsetsQuery, check_names, is_dry, moment

DryRun = Annotated[
    str | None,
    QueryParameter(
        name=DRY_RUN,
        description="true: say what the change would do, and change nothing. The connector may run.",
    ),
]
To = Annotated[
    str | None,
    QueryParameter(
        name=TO,
        description="Instead of a body: move every position to this time, as in 2026-11-20T10:00Z.",
    ),
]
Rewind = Annotated[
    str | None,
    QueryParameter(
        name=REWIND,
        description="Instead of a body: move every position back by this time, as in 2h, 1d12h or PT2H.",
    ),
]


async def dry_run(request: Request[Any, Any, State], dry: DryRun = None) -> bool:
    """Return whether nothing is to be changed."""
    check_names(request.query_params, (DRY_RUN,))
    return is_dry(dry)


async def options(
    request: Request[Any, Any, State], dry: DryRun = None, to: To = None, rewind: Rewind = None
) -> OffsetsQuery:
    """Return how a change is to be made."""
    check_names(request.query_params, (DRY_RUN, TO, REWIND))
    return OffsetsQuery(is_dry(dry), moment({TO: to, REWIND: rewind}, datetime.now(UTC)))


ONLY_DRY_RUN = {"dry_run": Provide(dry_run)}
OPTIONS = {"options": Provide(options)}
