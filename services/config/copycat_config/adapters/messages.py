"""Connectors and changes as messages of the contract, and requests as commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from copycat.config.v1 import config_service_pb2 as pb
from copycat_rpc.messages import (
    config_from_proto,
    config_to_proto,
    target_state_from_proto,
    target_state_to_proto,
)

from copycat_config.domain.commands import PutConnector, PutTaskConfigs, SetTargetState
from copycat_config.domain.errors import MissingFieldError
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    SessionKeySet,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.state import ConfigFacts, ConfigState
from copycat_config.domain.views import ConnectorView, find_connector, list_connectors, view_of


def connector_message(view: ConnectorView) -> pb.Connector:
    """Return the message of a connector."""
    return pb.Connector(
        name=view.name,
        config=config_to_proto(view.config),
        target_state=target_state_to_proto(view.target),
        tasks=[config_to_proto(task) for task in view.tasks],
        inconsistent=view.inconsistent,
        tasks_outdated=view.tasks_outdated,
        task_generation=view.task_generation,
        fencing_recorded=view.fencing_recorded,
    )


def listed_message(name: str, facts: ConfigFacts) -> pb.Connector | None:
    """Return the message of what is known under a name, or None when that is no connector."""
    view = view_of(name, facts)
    return None if view is None else connector_message(view)


def put_connector(request: pb.PutConnectorRequest) -> PutConnector:
    """Return the command of a request."""
    return PutConnector(
        request.name,
        config_from_proto(request.config),
        target_state_from_proto(request.initial_state),
        request.create_only,
        expected=config_from_proto(request.expected) if request.HasField("expected") else None,
    )


def set_target_state(request: pb.SetTargetStateRequest) -> SetTargetState:
    """Return the command of a request.

    Raises:
        MissingFieldError: It names no target state.
    """
    target = target_state_from_proto(request.target_state)
    if target is None:
        raise MissingFieldError("target_state", "set STARTED, PAUSED or STOPPED")
    return SetTargetState(request.name, target)


def put_task_configs(request: pb.PutTaskConfigsRequest) -> PutTaskConfigs:
    """Return the command of a request.

    Raises:
        MissingFieldError: It does not say which configuration the tasks were made from.
    """
    if not request.HasField("applied_config"):
        fix = "set the connector configuration the tasks were made from"
        raise MissingFieldError("applied_config", fix)
    tasks = tuple(config_from_proto(task) for task in request.tasks)
    return PutTaskConfigs(request.connector, tasks, config_from_proto(request.applied_config))


def snapshot_messages(state: ConfigState) -> Iterator[pb.WatchConnectorsResponse]:
    """Yield every connector; restarts and log levels are news and never part of it."""
    for view in list_connectors(state):
        yield pb.WatchConnectorsResponse(connector=connector_message(view))


def snapshot_complete() -> pb.WatchConnectorsResponse:
    """Return the end of a snapshot."""
    return pb.WatchConnectorsResponse(snapshot_complete=True)


def change_messages(event: ConfigEvent, state: ConfigState) -> Iterable[pb.WatchConnectorsResponse]:
    """Return what watchers see of an event; `state` is the one right after it."""
    match event:
        case ConnectorRemoved(name):
            return (pb.WatchConnectorsResponse(removed=name),)
        case ConnectorConfigured(name) | TargetStateSet(name) | TargetStateForgotten(name):
            return _connector(state, name)
        case TaskSetCommitted(name):
            return _connector(state, name)
        case RestartRequested(name, include_tasks, only_failed):
            restart = pb.RequestRestartRequest(
                connector=name, include_tasks=include_tasks, only_failed=only_failed
            )
            return (pb.WatchConnectorsResponse(restart=restart),)
        case LoggerLevelSet(logger, level):
            change = pb.SetLoggerLevelRequest(logger=logger, level=level)
            return (pb.WatchConnectorsResponse(logger_level=change),)
        case TaskConfigured() | TasksFenced() | SessionKeySet():
            return ()  # task configurations count from their commit on
        case _:
            assert_never(event)


def note_span(message: pb.WatchConnectorsResponse, traceparent: str) -> None:
    """Note in a change which span led to it."""
    message.traceparent = traceparent


def _connector(state: ConfigState, name: str) -> Iterable[pb.WatchConnectorsResponse]:
    view = find_connector(state, name)
    return () if view is None else (pb.WatchConnectorsResponse(connector=connector_message(view)),)
