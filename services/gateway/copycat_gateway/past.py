"""Asks the services what has changed, and what was in force at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from copycat.history.v1 import history_service_pb2 as pb
from copycat_rest.answers import History

from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left, stage
from copycat_gateway.errors import NotFoundError
from copycat_gateway.offsets.query import iso
from copycat_gateway.views.history import KINDS_BY_ROLE, shown_change

MAX_PAGE: Final = 1_000
DEFAULT_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Page:
    """Which changes are asked for."""

    kinds: Collection[str]
    since_ms: int | None
    until_ms: int | None
    before_id: str
    limit: int


async def read_history(services: Services, connector: str, page: Page) -> History:
    """Return a page of changes, newest first.

    Raises:
        NotFoundError: The connector does not exist, and nothing is known of its past.
    """
    with stage(f"reading the history of connector {connector}"):
        replies = await asyncio.gather(
            *(
                services.histories[role].ReadHistory(_request(connector, page, asked), timeout=left())
                for role, kinds in KINDS_BY_ROLE.items()
                if (asked := [kind for kind in kinds if kind in page.kinds])
            )
        )
    found = sorted(
        (each for reply in replies for each in reply.changes), key=lambda each: each.id, reverse=True
    )
    if not found:
        await services.connector(connector)
    shown = found[: page.limit]
    more = len(found) > page.limit or any(len(reply.changes) == page.limit for reply in replies)
    changes = [shown_change(each, iso(each.time_ms)) for each in shown]
    return History(connector, changes, shown[-1].id if more and shown else None)


async def facts_at(services: Services, role: str, connector: str, kind: str, at_ms: int) -> Mapping[str, Any]:
    """Return what was in force at a time by subject; a fact that was not there is None.

    Facts of which nobody knows are left out.

    Raises:
        NotFoundError: A fact was too large to be kept.
    """
    request = pb.ReadFactsAtRequest(connector=connector, kinds=[kind], at_ms=at_ms)
    with stage(f"reading the history of connector {connector}"):
        reply = await services.histories[role].ReadFactsAt(request, timeout=left())
    facts: dict[str, Any] = {}
    for change in reply.later:
        if change.before_known:
            _note(facts, change, change.before if change.HasField("before") else None)
    for change in reply.changes:
        _note(facts, change, change.after if change.HasField("after") else None)
    return facts


def not_known(what: str, connector: str, at_ms: int) -> NotFoundError:
    """Return the answer where nothing is known of a time."""
    return NotFoundError(
        f"{what} of connector {connector} at {iso(at_ms)} is not known: it did not exist then, or that is"
        f" longer ago than changes are kept. GET /connectors/{connector}/history shows what is known"
    )


def _request(connector: str, page: Page, kinds: Collection[str]) -> pb.ReadHistoryRequest:
    return pb.ReadHistoryRequest(
        connector=connector,
        kinds=kinds,
        since_ms=page.since_ms,
        until_ms=page.until_ms,
        before_id=page.before_id,
        limit=page.limit,
    )


def _note(facts: dict[str, Any], change: pb.PastChange, text: str | None) -> None:
    if text is None and change.omitted:
        raise NotFoundError(f"This was too large to be kept: {change.kind} of connector {change.connector}")
    facts[change.subject] = None if text is None else json.loads(text)
