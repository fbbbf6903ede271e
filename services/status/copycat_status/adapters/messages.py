"""Statuses and changes as messages of the contract, and requests as commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_rpc.instances import instance_from_proto

from copycat_status.domain.commands import ForgetStatuses, Report, ReportTopics
from copycat_status.domain.errors import MissingStateError
from copycat_status.domain.events import StatusEvent, StatusForgotten, StatusSet, TopicActive, TopicForgotten
from copycat_status.domain.state import ConnectorFacts, StatusState
from copycat_status.domain.status import State, Status
from copycat_status.domain.views import ConnectorStatus, list_instances, view_of

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
    )


def connector_status_message(view: ConnectorStatus) -> pb.ConnectorStatus:
    """Return the message of a connector's statuses."""
    tasks = {task: status_message(status) for task, status in view.tasks.items()}
    return pb.ConnectorStatus(connector=view.connector, status=status_message(view.status), tasks=tasks)


def listed_message(connector: str, facts: ConnectorFacts) -> pb.ConnectorStatus | None:
    """Return the message of what is known under a name, or None when the connector has no status."""
    view = view_of(connector, facts)
    return None if view is None else connector_status_message(view)


def reports(request: pb.ReportStatusesRequest) -> tuple[Report, ...]:
    """Return the reports of a request.

    Raises:
        MissingStateError: One has no state.
    """
    return tuple(Report(instance_from_proto(message), _status(message)) for message in request.statuses)


def report_topics(request: pb.ReportTopicsRequest) -> ReportTopics:
    """Return the command of a request."""
    return ReportTopics(request.connector, request.task, tuple(request.topics), request.discover_timestamp_ms)


def forget_statuses(request: pb.ForgetStatusesRequest) -> ForgetStatuses:
    """Return the command of a request."""
    return ForgetStatuses(request.connector, tuple(request.tasks))


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


def _status(message: pb.InstanceStatus) -> Status:
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
    )
