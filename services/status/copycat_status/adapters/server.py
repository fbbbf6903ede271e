"""The status service over gRPC: requests to commands, outcomes and views to responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1 import status_service_pb2_grpc as grpc_pb
from copycat_rpc.server import RpcServer
from copycat_serving.rendering import Rendering
from copycat_serving.revisions import read_state, revision_to_proto
from copycat_serving.watching import stream_watch

from copycat_status.adapters import messages
from copycat_status.adapters.event_sourced import StatusEvents
from copycat_status.adapters.writer import StatusWriter
from copycat_status.domain.commands import ResetTopics
from copycat_status.domain.tracking import Tracking
from copycat_status.domain.views import get_connector_status, list_topics

SERVICE = "copycat.status.v1.StatusService"


def register(server: RpcServer, events: StatusEvents, writer: StatusWriter, tracking: Tracking) -> None:
    """Let a server answer for the status topic."""
    servicer = StatusServicer(events, writer, tracking)
    server.add(grpc_pb.add_StatusServiceServicer_to_server, servicer, SERVICE)


class StatusServicer(grpc_pb.StatusServiceServicer):
    """Every write answers once its effect is folded, with the revision at which it is visible (I4)."""

    def __init__(self, events: StatusEvents, writer: StatusWriter, tracking: Tracking) -> None:
        self._events = events
        self._writer = writer
        self._tracking = tracking
        self._listed = Rendering(messages.listed_message)

    async def ReportStatuses(
        self, request: pb.ReportStatusesRequest, context: Any
    ) -> pb.ReportStatusesResponse:
        """Record statuses; older ones are silently left out (I2)."""
        revision = await self._writer.report(messages.reports(request))
        return pb.ReportStatusesResponse(revision=revision_to_proto(revision))

    async def ReportTopics(self, request: pb.ReportTopicsRequest, context: Any) -> pb.ReportTopicsResponse:
        """Record active topics, or nothing where they are not tracked."""
        revision = self._events.revision
        if self._tracking.enabled:
            revision = await self._writer.topics(messages.report_topics(request))
        return pb.ReportTopicsResponse(revision=revision_to_proto(revision))

    async def ForgetStatuses(
        self, request: pb.ForgetStatusesRequest, context: Any
    ) -> pb.ForgetStatusesResponse:
        """Forget tasks, or a connector with its tasks and topics, whether or not topics may be reset."""
        revision = await self._writer.forget(messages.forget_statuses(request))
        return pb.ForgetStatusesResponse(revision=revision_to_proto(revision))

    async def ResetTopics(self, request: pb.ResetTopicsRequest, context: Any) -> pb.ResetTopicsResponse:
        """Forget active topics."""
        self._tracking.check_reset()
        revision = await self._writer.topics(ResetTopics(request.connector))
        return pb.ResetTopicsResponse(revision=revision_to_proto(revision))

    async def GetConnectorStatus(
        self, request: pb.GetConnectorStatusRequest, context: Any
    ) -> pb.GetConnectorStatusResponse:
        """Return the statuses of one connector."""
        state, revision = await read_state(self._events, request)
        status = messages.connector_status_message(get_connector_status(state, request.connector))
        return pb.GetConnectorStatusResponse(status=status, revision=revision)

    async def ListConnectorStatuses(
        self, request: pb.ListConnectorStatusesRequest, context: Any
    ) -> pb.ListConnectorStatusesResponse:
        """Return the statuses of every connector."""
        state, revision = await read_state(self._events, request)
        statuses = self._listed.messages(state.connectors)
        return pb.ListConnectorStatusesResponse(statuses=statuses, revision=revision)

    async def ListTopics(self, request: pb.ListTopicsRequest, context: Any) -> pb.ListTopicsResponse:
        """Return the active topics of a connector."""
        self._tracking.check_shown()
        state, revision = await read_state(self._events, request)
        return pb.ListTopicsResponse(topics=list_topics(state, request.connector), revision=revision)

    async def WatchStatuses(
        self, request: pb.WatchStatusesRequest, context: Any
    ) -> AsyncIterator[pb.WatchStatusesResponse]:
        """Stream a snapshot, then every later change."""
        async for message in stream_watch(
            self._events,
            request,
            snapshot=messages.snapshot_messages,
            change=messages.change_messages,
            complete=messages.snapshot_complete,
        ):
            yield message
