"""`/connectors/{name}/history`: what has changed, when, and who asked for it (not in Kafka Connect)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from copycat_rest.answers import History
from litestar import Response, get
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter

from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.errors import BadRequestError
from copycat_gateway.moments import moment_ms
from copycat_gateway.past import DEFAULT_PAGE, MAX_PAGE, Page, read_history
from copycat_gateway.routes.dependencies import CONNECTOR
from copycat_gateway.views.history import COMMIT, KINDS

MAX_ID_CHARACTERS: Final = 60
Kind = Annotated[
    list[str] | None,
    QueryParameter(
        name="kind",
        description="config, target_state, status, offsets, act or commit; given several times, all of them. "
        "Without it all but commit.",
    ),
]
Since = Annotated[
    str | None,
    QueryParameter(name="from", description="Not before this time, as in 2026-11-20T10:00Z or 2h (ago)."),
]
Until = Annotated[
    str | None,
    QueryParameter(name="to", description="Not after this time, as in 2026-11-20T10:00Z or 2h (ago)."),
]
Before = Annotated[
    str | None,
    QueryParameter(name="before", description="`next` of the page before: only older changes follow."),
]
Limit = Annotated[
    str | None, QueryParameter(name="limit", description="How many, from 1 to 1000; 100 without it.")
]


async def page(
    kind: Kind = None, since: Since = None, until: Until = None, before: Before = None, limit: Limit = None
) -> Page:
    """Return which changes are asked for."""
    now = datetime.now(UTC)
    return Page(
        _kinds(kind),
        None if since is None else moment_ms("from", since, now),
        None if until is None else moment_ms("to", until, now),
        (before or "")[:MAX_ID_CHARACTERS],
        _limit(limit),
    )


@get(
    "/connectors/{name:str}/history",
    summary="Show what has changed about a connector, also a deleted one, when, and who asked for it",
    tags=["history"],
    dependencies={**CONNECTOR, "page": Provide(page)},
    operation_class=documented(
        refused={
            400: "A parameter is none that can be answered.",
            404: "The connector does not exist, and nothing is known of its past.",
        }
    ),
)
async def get_history(
    services: NamedDependency[Services], connector: NamedDependency[str], page: NamedDependency[Page]
) -> Response[History]:
    """Show changes, newest first."""
    return answer(await read_history(services, connector, page))


def _kinds(given: list[str] | None) -> list[str]:
    if given is None:
        return [kind for kind in KINDS if kind != COMMIT]
    for kind in given:
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise BadRequestError(
                f"The query parameter kind is '{kind[:50]}': write one of {known}, as in kind=config"
            )
    return given


def _limit(given: str | None) -> int:
    if given is None:
        return DEFAULT_PAGE
    if not (given.isascii() and given.isdecimal() and len(given) <= 4 and 1 <= int(given) <= MAX_PAGE):
        raise BadRequestError(
            f"The query parameter limit is '{given[:50]}': write a number from 1 to {MAX_PAGE}, as in"
            " limit=20"
        )
    return int(given)


HANDLERS = (get_history,)
