"""What a command does to the log, in Kafka's order of records."""

from __future__ import annotations

from typing import assert_never

from copycat_connect.cluster import TargetState
from copycat_connect.config.validators import usable_name
from copycat_connect.errors import ConfigError

from copycat_config.domain.commands import (
    ConfigCommand,
    DeleteConnector,
    PutConnector,
    PutTaskConfigs,
    RecordFencing,
    RequestRestart,
    SetLoggerLevel,
    SetTargetState,
)
from copycat_config.domain.errors import (
    ConfigChangedError,
    ConfigReplacedError,
    ConnectorExistsError,
    ConnectorStoppedError,
    InvalidNameError,
    LongNameError,
    TasksChangedError,
    UnknownConnectorError,
)
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.state import ConfigFacts, ConfigState

_MAX_NAME_BYTES = 1024
"""Keeps a key far below what Kafka allows, and `connect-<name>` usable as a group id."""


def _check_name(name: str, what: str) -> None:
    """Refuse a name that is empty, too long or has control characters; `what` says whose name it is.

    Raises:
        InvalidNameError: With Kafka's text where it has one.
    """
    size = len(name.encode())
    if size > _MAX_NAME_BYTES:
        raise LongNameError(what, name, size, _MAX_NAME_BYTES)
    try:
        usable_name(what, name if name.strip() else "")
    except ConfigError as error:
        raise InvalidNameError(what, error.message) from error


def decide(command: ConfigCommand, state: ConfigState) -> tuple[ConfigEvent, ...]:
    """Return the events the command causes, none when what it asks for holds already.

    Raises:
        CopycatError: One of `domain/errors.py`; nothing is appended then.
    """
    match command:
        case PutConnector():
            events = _put_connector(command, state.facts(command.connector))
        case DeleteConnector(connector):
            _existing(connector, state)
            events = (ConnectorRemoved(connector), TargetStateForgotten(connector))
        case SetTargetState(connector, target):
            events = _set_target(connector, target, _existing(connector, state))
        case PutTaskConfigs():
            events = _put_tasks(command, _existing(command.connector, state))
        case RecordFencing():
            events = _record_fencing(command, _existing(command.connector, state))
        case RequestRestart(connector, include_tasks, only_failed):
            _existing(connector, state)
            events = (RestartRequested(connector, include_tasks, only_failed),)
        case SetLoggerLevel(logger, level):
            _check_name(logger, "logger")
            _check_name(level, "level")
            events = (LoggerLevelSet(logger, level),)
        case _:
            assert_never(command)
    return events


def _existing(connector: str, state: ConfigState) -> ConfigFacts:
    facts = state.facts(connector)
    if facts.config is None:
        raise UnknownConnectorError(connector)
    return facts


def _put_connector(command: PutConnector, facts: ConfigFacts) -> tuple[ConfigEvent, ...]:
    _check_name(command.connector, "name")
    configured = ConnectorConfigured(command.connector, command.config)
    if facts.config is None:
        if command.replace_only or command.expected is not None:
            raise UnknownConnectorError(command.connector)
        if command.initial_state is None:
            return (configured,)
        return (TargetStateSet(command.connector, command.initial_state), configured)
    if command.create_only:
        raise ConnectorExistsError(command.connector)
    if command.expected is not None and facts.config not in (command.expected, command.config):
        raise ConfigReplacedError(command.connector)
    target: tuple[ConfigEvent, ...] = ()
    if command.initial_state not in (None, facts.target_in_force):
        target = _set_target(command.connector, command.initial_state, facts)
    return target if facts.config == command.config else (*target, configured)


def _set_target(connector: str, target: TargetState, facts: ConfigFacts) -> tuple[ConfigEvent, ...]:
    """Change only what differs; the task set is emptied before the state says STOPPED."""
    events: list[ConfigEvent] = []
    if target is TargetState.STOPPED and (facts.task_count != 0 or facts.inconsistent):
        events.append(TaskSetCommitted(connector, 0))
    if target is not facts.target_in_force:
        events.append(TargetStateSet(connector, target))
    return tuple(events)


def _put_tasks(command: PutTaskConfigs, facts: ConfigFacts) -> tuple[ConfigEvent, ...]:
    if command.tasks and facts.target_in_force is TargetState.STOPPED:
        raise ConnectorStoppedError(command.connector)
    if command.applied != facts.config:
        raise ConfigChangedError(command.connector)
    if _in_force(command, facts):
        return ()
    tasks = (TaskConfigured(command.connector, index, config) for index, config in enumerate(command.tasks))
    return (*tasks, TaskSetCommitted(command.connector, len(command.tasks)))


def _in_force(command: PutTaskConfigs, facts: ConfigFacts) -> bool:
    """Return whether this set, made from this configuration, holds; converters may change without the set."""
    return (
        not facts.inconsistent
        and facts.task_count == len(command.tasks)
        and facts.visible_tasks == command.tasks
        and facts.applied == command.applied
    )


def _record_fencing(command: RecordFencing, facts: ConfigFacts) -> tuple[ConfigEvent, ...]:
    """Note it only of the set for which it was done: of a newer one, tasks may run that nobody fenced."""
    if (command.task_generation, command.count) != (facts.task_generation, facts.size):
        raise TasksChangedError(command.connector)
    return (TasksFenced(command.connector, command.count),) if facts.pending_fencing else ()
