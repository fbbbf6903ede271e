"""The past of connectors: what changed, when, and who asked for it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import grpc
from copycat.history.v1 import history_service_pb2 as pb
from copycat.history.v1.history_service_pb2_grpc import HistoryServiceStub

#: Which service reports which kinds of changes.
ROLE_BY_KIND: Final[Mapping[str, str]] = {
    "config": "config",
    "target_state": "config",
    "status": "status",
    "act": "status",
    "offsets": "offset",
    "commit": "offset",
}


@dataclass(frozen=True, slots=True)
class PastChange:
    """One change of one fact about a connector."""

    id: str
    """Unique among the changes of a connector; hand over the last one's to read on from there."""
    time: datetime
    """When, to the millisecond."""
    connector: str
    """The connector; it may be deleted by now."""
    kind: str
    """config, target_state, status, act, offsets or commit."""
    subject: str
    """Empty for the connector, the number of a task, or the JSON text of a partition."""
    what: str
    """What happened to it, for example updated, deleted, restarted."""
    before: Any
    """The fact before, from JSON; nothing where there was none, or nobody knows."""
    after: Any
    """The fact after, from JSON; nothing where it is gone."""
    before_known: bool
    """Whether `before` is known."""
    omitted: bool
    """Whether the fact was too large to be kept."""
    asked_by: str
    """`user`, `automatic`, or empty where nobody knows."""
    name: str
    """The user's, or that of the part of Copycat that acted."""
    address: str
    """Where the request came from."""
    reason: str
    """Why, for automatic acts."""
    trace_id: str
    """Trace of the request, 32 hexadecimal digits; empty where there was none."""


class Histories:
    """Calls of the three services that keep a history of their facts."""

    def __init__(self, channels: Mapping[str, grpc.aio.Channel]) -> None:
        """Use these channels, one for each role: config, status, offset."""
        self._stubs = {role: HistoryServiceStub(channels[role]) for role in {*ROLE_BY_KIND.values()}}

    async def read(
        self,
        connector: str,
        kind: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        before_id: str = "",
        limit: int = 100,
        timeout: float | None = None,
    ) -> list[PastChange]:
        """Return changes of one kind, newest first, at most 1000.

        Raises:
            UnavailableError: They cannot be read in time.
        """
        request = pb.ReadHistoryRequest(
            connector=connector,
            kinds=[kind],
            since_ms=_millis(since),
            until_ms=_millis(until),
            before_id=before_id,
            limit=limit,
        )
        reply = await self._stubs[ROLE_BY_KIND[kind]].ReadHistory(request, timeout=timeout)
        return _changes(reply.changes)

    async def facts_at(
        self, connector: str, kind: str, at: datetime, *, timeout: float | None = None
    ) -> tuple[list[PastChange], list[PastChange]]:
        """Return the newest change of each fact at a time; of each without one, the first one afterwards.

        Raises:
            UnavailableError: They cannot be read in time.
        """
        request = pb.ReadFactsAtRequest(connector=connector, kinds=[kind], at_ms=_millis(at) or 0)
        reply = await self._stubs[ROLE_BY_KIND[kind]].ReadFactsAt(request, timeout=timeout)
        return _changes(reply.changes), _changes(reply.later)


def _changes(messages: Collection[pb.PastChange]) -> list[PastChange]:
    return [
        PastChange(
            id=each.id,
            time=datetime.fromtimestamp(each.time_ms / 1000, UTC),
            connector=each.connector,
            kind=each.kind,
            subject=each.subject,
            what=each.what,
            before=json.loads(each.before) if each.HasField("before") else None,
            after=json.loads(each.after) if each.HasField("after") else None,
            before_known=each.before_known,
            omitted=each.omitted,
            asked_by=each.by.type,
            name=each.by.name,
            address=each.by.address,
            reason=each.reason,
            trace_id=each.trace_id,
        )
        for each in messages
    ]


def _millis(time: datetime | None) -> int | None:
    return None if time is None else round(time.timestamp() * 1000)
