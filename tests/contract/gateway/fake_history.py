"""A history service that answers what a test gave it."""

from __future__ import annotations

from typing import Any

from copycat.history.v1 import history_service_pb2 as pb
from copycat.history.v1.history_service_pb2_grpc import HistoryServiceServicer


class FakeHistory(HistoryServiceServicer):
    """Keeps changes by kind; says what it was asked for."""

    def __init__(self) -> None:
        self.changes: list[pb.PastChange] = []
        self.at: pb.ReadFactsAtResponse = pb.ReadFactsAtResponse()
        self.asked: list[pb.ReadHistoryRequest] = []
        self.asked_at: list[pb.ReadFactsAtRequest] = []

    async def ReadHistory(self, request: pb.ReadHistoryRequest, context: Any) -> pb.ReadHistoryResponse:
        self.asked.append(request)
        found = [each for each in self.changes if each.kind in request.kinds]
        return pb.ReadHistoryResponse(changes=found[: request.limit])

    async def ReadFactsAt(self, request: pb.ReadFactsAtRequest, context: Any) -> pb.ReadFactsAtResponse:
        self.asked_at.append(request)
        return self.at
