"""A status service in a dict."""

from __future__ import annotations

from typing import Any

from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, ErrorCode


class UnknownStatusError(CopycatError):
    code = ErrorCode("status.unknown", grpc="NOT_FOUND", http=404)


class TrackingDisabledError(CopycatError):
    code = ErrorCode("topic.tracking_disabled", grpc="FAILED_PRECONDITION", http=403)

    def __init__(self) -> None:
        super().__init__("Topic tracking is disabled.")


class ResetDisabledError(CopycatError):
    code = ErrorCode("topic.reset_disabled", grpc="FAILED_PRECONDITION", http=403)

    def __init__(self) -> None:
        super().__init__("Topic tracking reset is disabled.")


class FakeStatus(StatusServiceServicer):
    """Keeps statuses and active topics."""

    def __init__(self) -> None:
        self.statuses: dict[str, pb.ConnectorStatus] = {}
        self.topics: dict[str, list[str]] = {}
        self.resets: list[str] = []
        self.hides_topics: CopycatError | None = None
        """Why topics are not shown."""
        self.keeps_topics: CopycatError | None = None
        """Why topics are not reset."""
        self.revision = types_pb2.Revision()
        self.asked_for = types_pb2.Revision()
        """Least revision of the last look at topics."""

    def says(
        self,
        connector: str,
        state: str,
        worker: str = "h1:8083",
        *,
        task: int | None = None,
        trace: str | None = None,
        version: str | None = None,
        **additions: Any,
    ) -> None:
        """Record what a worker says; `additions` are further fields of the status."""
        status = pb.Status(
            state=types_pb2.State.Value(f"STATE_{state}"),
            worker_id=worker,
            trace=trace,
            version=version,
            **additions,
        )
        known = self.statuses.setdefault(connector, pb.ConnectorStatus(connector=connector))
        (known.status if task is None else known.tasks[task]).CopyFrom(status)

    async def GetConnectorStatus(
        self, request: pb.GetConnectorStatusRequest, context: Any
    ) -> pb.GetConnectorStatusResponse:
        if request.connector not in self.statuses:
            raise UnknownStatusError("another text")
        return pb.GetConnectorStatusResponse(status=self.statuses[request.connector])

    async def ListConnectorStatuses(
        self, request: pb.ListConnectorStatusesRequest, context: Any
    ) -> pb.ListConnectorStatusesResponse:
        return pb.ListConnectorStatusesResponse(statuses=self.statuses.values())

    async def ListTopics(self, request: pb.ListTopicsRequest, context: Any) -> pb.ListTopicsResponse:
        self.asked_for = request.min_revision
        if self.hides_topics is not None:
            raise self.hides_topics
        return pb.ListTopicsResponse(topics=self.topics.get(request.connector, []))

    async def ResetTopics(self, request: pb.ResetTopicsRequest, context: Any) -> pb.ResetTopicsResponse:
        if self.keeps_topics is not None:
            raise self.keeps_topics
        self.resets.append(request.connector)
        self.topics.pop(request.connector, None)
        return pb.ResetTopicsResponse(revision=self.revision)
