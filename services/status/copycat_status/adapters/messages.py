"""Statuses and changes as messages of the contract, and requests as commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_eventlog.past.change import PastChange
from copycat_rpc.messages import instance_from_proto

from copycat_status.adapters.telling import act
from copycat_status.domain.commands import ForgetStatuses, Report, ReportTopics
from copycat_status.domain.errors import MissingStateError
from copycat_status.domain.events import StatusEvent, StatusForgotten, StatusSet, TopicActive, TopicForgotten
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import State, Status
from copycat_status.domain.views import list_instances

STATES = {
    types_pb2.STATE_UNASSIGNED: State.UNASSIGNED,
    types_pb2.STATE_RUNNING: State.RUNNING,
    types_pb2.STATE_PAUSED: State.PAUSED,
    types_pb2.STATE_STOPPED: State.STOPPED,
    types_pb2.STATE_FAILED: State.FAILED,
    types_pb2.STATE_RESTARTING: State.RESTARTING,
}
#: A record of more than 1 MB is refused, and a failure with a trace cut short is better than none.
MAX_TRACE_CHARACTERS = 200_000
MESSAGES = {state: number for number, state in STATES.items()}


def status_message(status: Status) -> pb.Status:
    """Return the message of a status."""
    return pb.Status(
        state=MESSAGES[status.state],
        trace=status.trace,
        worker_id=status.worker_id,
        generation=status.generation,
        version=status.version,
        since_ms=status.since_ms or 0,
    )


def reports(request: pb.ReportStatusesRequest, now_ms: int) -> tuple[Report, ...]:
    """Return the reports of a request; none of them began after `now_ms`, whatever a worker's clock says.

    Raises:
        MissingStateError: One has no state.
    """
    return tuple(
        Report(instance_from_proto(message), _status(message, now_ms)) for message in request.statuses
    )


def report_topics(request: pb.ReportTopicsRequest) -> ReportTopics:
    """Return the command of a request."""
    return ReportTopics(request.connector, request.task, tuple(request.topics), request.discover_timestamp_ms)


def forget_statuses(request: pb.ForgetStatusesRequest) -> ForgetStatuses:
    """Return the command of a request."""
    return ForgetStatuses(request.connector, tuple(request.tasks))


def recorded_act(request: pb.RecordActRequest, time_ms: int) -> PastChange:
    """Return the act of a request."""
    return act(
        instance_from_proto(request),
        request.what,
        by=request.by,
        reason=request.reason,
        about=request.about,
        time_ms=time_ms,
    )


def snapshot_messages(state: StatusState) -> Iterator[pb.WatchStatusesResponse]:
    """Yield every status."""
    for instance, status in list_instances(state):
        yield _changed(instance, status)


def snapshot_complete() -> pb.WatchStatusesResponse:
    """Return the end of a snapshot."""
    return pb.WatchStatusesResponse(snapshot_complete=True)


def change_messages(event: StatusEvent, state: StatusState) -> Iterable[pb.WatchStatusesResponse]:
    """Return what watchers see of an event; `state` is the one right after it."""
    match event:
        case StatusSet(instance, status):
            # A late UNASSIGNED is in the log but not in the state.
            return (_changed(instance, status),) if state.status(instance) == status else ()
        case StatusForgotten(instance):
            return (pb.WatchStatusesResponse(removed=_message(instance, None)),)
        case TopicActive() | TopicForgotten():
            return ()
        case _:
            assert_never(event)


def _changed(instance: Instance, status: Status) -> pb.WatchStatusesResponse:
    return pb.WatchStatusesResponse(status=_message(instance, status))


def _message(instance: Instance, status: Status | None) -> pb.InstanceStatus:
    return pb.InstanceStatus(
        connector=instance.connector,
        task=instance.task,
        status=None if status is None else status_message(status),
    )


def _status(message: pb.InstanceStatus, now_ms: int) -> Status:
    said = message.status
    state = STATES.get(said.state)
    if state is None:
        raise MissingStateError(message.connector)
    return Status(
        state=state,
        worker_id=said.worker_id,
        generation=said.generation,
        trace=said.trace[:MAX_TRACE_CHARACTERS] if said.HasField("trace") else None,
        version=said.version if said.HasField("version") else None,
        since_ms=min(said.since_ms or now_ms, now_ms),
    )
