"""HistoryService: what changed in the facts of one service."""

from __future__ import annotations

from typing import Any

from copycat.history.v1 import history_service_pb2 as pb
from copycat.history.v1 import history_service_pb2_grpc as grpc_pb
from copycat_eventlog.past.change import SHOWN_KINDS, PastChange
from copycat_eventlog.past.history import DEFAULT_PAGE, PastChanges, Question
from copycat_rpc.server import RpcServer

SERVICE = "copycat.history.v1.HistoryService"


def register_history(server: RpcServer, past: PastChanges) -> None:
    """Let a server answer for the past of its facts."""
    server.add(grpc_pb.add_HistoryServiceServicer_to_server, HistoryServicer(past), SERVICE)


class HistoryServicer(grpc_pb.HistoryServiceServicer):
    """Reads the past anew for each call; any instance of a service can."""

    def __init__(self, past: PastChanges) -> None:
        self._past = past

    async def ReadHistory(self, request: pb.ReadHistoryRequest, context: Any) -> pb.ReadHistoryResponse:
        """Return a page of changes, newest first."""
        question = Question(
            request.connector,
            frozenset(request.kinds) or SHOWN_KINDS,
            request.since_ms if request.HasField("since_ms") else None,
            request.until_ms if request.HasField("until_ms") else None,
            request.before_id,
            request.limit or DEFAULT_PAGE,
        )
        return pb.ReadHistoryResponse(changes=map(change_message, await self._past.page(question)))

    async def ReadFactsAt(self, request: pb.ReadFactsAtRequest, context: Any) -> pb.ReadFactsAtResponse:
        """Return what was in force at a time."""
        found, later = await self._past.facts_at(request.connector, frozenset(request.kinds), request.at_ms)
        return pb.ReadFactsAtResponse(changes=map(change_message, found), later=map(change_message, later))


def change_message(change: PastChange) -> pb.PastChange:
    """Return the message of a change."""
    return pb.PastChange(
        id=change.id,
        time_ms=change.time_ms,
        connector=change.connector,
        kind=change.kind,
        subject=change.subject,
        what=change.what,
        before=change.before,
        after=change.after,
        omitted=change.omitted,
        before_known=change.before_known,
        by=pb.Asker(type=change.by.type, name=change.by.name, address=change.by.address),
        reason=change.reason,
        trace_id=change.trace_id,
    )
