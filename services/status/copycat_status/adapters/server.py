"""The status service over gRPC: requests to commands, outcomes and views to responses."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1 import status_service_pb2_grpc as grpc_pb
from copycat_connect.cluster import Instance
from copycat_connect.error_text import shortened
from copycat_eventlog.past.keeper import ChangesKeeper
from copycat_rpc.server import RpcServer
from copycat_serving.reads import Rendering, read_state, revision_to_proto, stream_watch

from copycat_status.adapters import messages
from copycat_status.adapters.event_sourced import StatusEvents
from copycat_status.adapters.messages import status_message
from copycat_status.adapters.writer import StatusWriter
from copycat_status.domain.commands import ReportStatuses, ResetTopics
from copycat_status.domain.health import HealthLevel, Told, Troubles, health_of, told_of
from copycat_status.domain.state import StatusFacts, StatusState
from copycat_status.domain.status import Status
from copycat_status.domain.tracking import Tracking
from copycat_status.domain.trouble import MAX_TEXT_CHARACTERS, Trouble, TroubleKind
from copycat_status.domain.views import ConnectorStatus, get_connector_status, list_topics, view_of

#: A worker repeats what it says at least twice in this time; what it said before it went away is no news.
FORGOTTEN_AFTER_SECONDS = 10.0
_MAX_TROUBLES = 1000
_MAX_CALL_CHARACTERS = 50
_KINDS = {
    pb.TROUBLE_KIND_HANGS: TroubleKind.HANGS,
    pb.TROUBLE_KIND_RETRIES: TroubleKind.RETRIES,
    pb.TROUBLE_KIND_WAITS: TroubleKind.WAITS,
}


class TroublesNow:
    """What is known at the moment; in no log, for it is worth nothing once it is over."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Use this clock, in seconds that never run backwards."""
        self._clock = clock
        self._told: dict[str, tuple[float, Mapping[Instance, Trouble]]] = {}

    def tell(self, request: pb.ReportTroublesRequest) -> None:
        """Replace all that a worker has reported."""
        found = [_trouble(message) for message in request.troubles[:_MAX_TROUBLES] if message.kind in _KINDS]
        self._forget_old()
        self._told.pop(request.worker_id, None)
        if found:
            until = self._clock() + FORGOTTEN_AFTER_SECONDS
            self._told[request.worker_id] = (until, {trouble.instance: trouble for trouble in found})

    def now(self) -> Mapping[Instance, Trouble]:
        """Return what holds now; of an instance that two workers speak of, what the later one says."""
        self._forget_old()
        newest: dict[Instance, Trouble] = {}
        for _, troubles in self._told.values():
            for instance, trouble in troubles.items():
                known = newest.get(instance)
                if known is None or known.generation < trouble.generation:
                    newest[instance] = trouble
        return newest

    def _forget_old(self) -> None:
        now = self._clock()
        self._told = {worker: told for worker, told in self._told.items() if told[0] > now}


def _trouble(message: pb.Trouble) -> Trouble:
    return Trouble(
        instance=Instance(message.connector, message.task if message.HasField("task") else None),
        kind=_KINDS[message.kind],
        generation=message.generation,
        since_ms=message.since_ms,
        call=shortened(message.call, _MAX_CALL_CHARACTERS),
        tries=message.tries,
        text=shortened(message.text, MAX_TEXT_CHARACTERS),
        lasting=message.lasting,
    )


_LEVELS = {
    HealthLevel.HEALTHY: pb.HEALTH_HEALTHY,
    HealthLevel.DEGRADED: pb.HEALTH_DEGRADED,
    HealthLevel.FAILED: pb.HEALTH_FAILED,
}


class _ShownStatuses:
    """Makes the messages of connectors; those of connectors without trouble are made once for each state."""

    def __init__(self, troubles: TroublesNow, wall_ms: Callable[[], int]) -> None:
        self._troubles = troubles
        self._wall_ms = wall_ms
        self._untroubled = Rendering(self._without_trouble)

    def one(self, view: ConnectorStatus) -> pb.ConnectorStatus:
        """Return the message of a connector."""
        return _message(view, self._troubles.now(), self._wall_ms())

    def all(self, state: StatusState) -> list[pb.ConnectorStatus]:
        """Return the messages of every connector that has a status, by name; nobody may change them."""
        troubles, now_ms = self._troubles.now(), self._wall_ms()
        troubled = {instance.connector for instance in troubles}
        return [
            _message(view, troubles, now_ms)
            if message.connector in troubled and (view := _view(state, message.connector))
            else message
            for message in self._untroubled.messages(state.connectors)
        ]

    def _without_trouble(self, connector: str, facts: StatusFacts) -> pb.ConnectorStatus | None:
        view = view_of(connector, facts)
        return None if view is None else _message(view, {}, self._wall_ms())


def _view(state: StatusState, connector: str) -> ConnectorStatus | None:
    return view_of(connector, state.facts(connector))


def _message(view: ConnectorStatus, troubles: Troubles, now_ms: int) -> pb.ConnectorStatus:
    name = view.connector
    own = told_of(view.status, troubles.get(Instance(name)), now_ms)
    tasks = {
        task: told_of(status, troubles.get(Instance(name, task)), now_ms)
        for task, status in view.tasks.items()
    }
    health = health_of(own, tasks)
    return pb.ConnectorStatus(
        connector=name,
        status=_with_reason(view.status, own),
        tasks={task: _with_reason(status, tasks[task]) for task, status in view.tasks.items()},
        health=_LEVELS[health.level],
        health_reason=health.reason,
    )


def _with_reason(status: Status, told: Told) -> pb.Status:
    message = status_message(status)
    if told.reason:
        message.reason = told.reason
    return message


SERVICE = "copycat.status.v1.StatusService"


def register(
    server: RpcServer, events: StatusEvents, writer: StatusWriter, tracking: Tracking, keeper: ChangesKeeper
) -> None:
    """Let a server answer for the status topic, and keep what the cluster did by itself."""
    servicer = StatusServicer(events, writer, tracking, keeper)
    server.add(grpc_pb.add_StatusServiceServicer_to_server, servicer, SERVICE)


class StatusServicer(grpc_pb.StatusServiceServicer):
    """Every write answers once its effect is folded, with the revision at which it is visible (I4)."""

    def __init__(
        self, events: StatusEvents, writer: StatusWriter, tracking: Tracking, keeper: ChangesKeeper
    ) -> None:
        self._keeper = keeper
        self._events = events
        self._writer = writer
        self._tracking = tracking
        self._troubles = TroublesNow(time.monotonic)
        self._shown = _ShownStatuses(self._troubles, _now_ms)

    async def ReportStatuses(
        self, request: pb.ReportStatusesRequest, context: Any
    ) -> pb.ReportStatusesResponse:
        """Record statuses; older ones are silently left out (I2)."""
        revision = await self._writer.write(ReportStatuses(messages.reports(request, _now_ms())))
        return pb.ReportStatusesResponse(revision=revision_to_proto(revision))

    async def ReportTroubles(
        self, request: pb.ReportTroublesRequest, context: Any
    ) -> pb.ReportTroublesResponse:
        """Know what keeps instances of a worker from moving; standbys know it too, and write nothing."""
        self._troubles.tell(request)
        return pb.ReportTroublesResponse()

    async def ReportTopics(self, request: pb.ReportTopicsRequest, context: Any) -> pb.ReportTopicsResponse:
        """Record active topics, or nothing where they are not tracked."""
        revision = self._events.revision
        if self._tracking.enabled:
            revision = await self._writer.write(messages.report_topics(request))
        return pb.ReportTopicsResponse(revision=revision_to_proto(revision))

    async def ForgetStatuses(
        self, request: pb.ForgetStatusesRequest, context: Any
    ) -> pb.ForgetStatusesResponse:
        """Forget tasks, or a connector with its tasks and topics, whether or not topics may be reset."""
        revision = await self._writer.write(messages.forget_statuses(request))
        return pb.ForgetStatusesResponse(revision=revision_to_proto(revision))

    async def ResetTopics(self, request: pb.ResetTopicsRequest, context: Any) -> pb.ResetTopicsResponse:
        """Forget active topics."""
        self._tracking.check_reset()
        revision = await self._writer.write(ResetTopics(request.connector))
        return pb.ResetTopicsResponse(revision=revision_to_proto(revision))

    async def RecordAct(self, request: pb.RecordActRequest, context: Any) -> pb.RecordActResponse:
        """Keep what a part of the cluster did by itself; whoever leads the log or not."""
        self._keeper.append(messages.recorded_act(request, time.time_ns() // 1_000_000))
        return pb.RecordActResponse()

    async def GetConnectorStatus(
        self, request: pb.GetConnectorStatusRequest, context: Any
    ) -> pb.GetConnectorStatusResponse:
        """Return the statuses of one connector."""
        state, revision = await read_state(self._events, request)
        status = self._shown.one(get_connector_status(state, request.connector))
        return pb.GetConnectorStatusResponse(status=status, revision=revision)

    async def ListConnectorStatuses(
        self, request: pb.ListConnectorStatusesRequest, context: Any
    ) -> pb.ListConnectorStatusesResponse:
        """Return the statuses of every connector."""
        state, revision = await read_state(self._events, request)
        return pb.ListConnectorStatusesResponse(statuses=self._shown.all(state), revision=revision)

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


def _now_ms() -> int:
    return int(time.time() * 1000)
