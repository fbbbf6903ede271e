"""From what is wanted and what runs to what is to be done; level-triggered: a missed message costs a moment.

What cannot be changed while it runs is stopped first; once it is gone it is wanted and absent, hence started.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from copycat_connect.cluster import Instance, TargetState

from copycat_executor.domain.desired import DesiredWork, WantedConnector, WantedTask
from copycat_executor.domain.running import Phase, Running, RunningConnector, RunningTask


@dataclass(frozen=True, slots=True)
class ConnectorToStart:
    """Bring a connector to its target state."""

    wanted: WantedConnector


@dataclass(frozen=True, slots=True)
class SetConnectorTarget:
    """Pause, resume or stop a connector that stays here."""

    name: str
    target: TargetState


@dataclass(frozen=True, slots=True)
class ConnectorToStop:
    """Stop a connector and forget it; it is started again when it is still wanted."""

    name: str


@dataclass(frozen=True, slots=True)
class PublishTasks:
    """Ask a connector for task configurations and publish them."""

    name: str


@dataclass(frozen=True, slots=True)
class StartTask:
    """Give a task a place in a host and start it there."""

    wanted: WantedTask


@dataclass(frozen=True, slots=True)
class SetTaskTarget:
    """Pause or resume a task."""

    instance: Instance
    target: TargetState


@dataclass(frozen=True, slots=True)
class StopTask:
    """Drain a task and forget it; it is started again when it is still wanted."""

    instance: Instance


Action: TypeAlias = (
    ConnectorToStart
    | SetConnectorTarget
    | ConnectorToStop
    | PublishTasks
    | StartTask
    | SetTaskTarget
    | StopTask
)


def connector_of(action: Action) -> str:
    """Return the connector that an action is about, or to whose task it is done."""
    match action:
        case ConnectorToStart(wanted):
            return wanted.name
        case SetConnectorTarget(name=name) | ConnectorToStop(name) | PublishTasks(name):
            return name
        case StartTask(task):
            return task.instance.connector
        case SetTaskTarget(instance=instance) | StopTask(instance):
            return instance.connector
        case _:
            assert_never(action)


def reconcile(desired: DesiredWork, running: Running) -> tuple[Action, ...]:
    """Return what to do now; nothing for an instance that is busy with an earlier action."""
    return (*_connectors(desired, running), *_tasks(desired, running))


def _connectors(desired: DesiredWork, running: Running) -> Iterator[Action]:
    for name, runs in running.connectors.items():
        if runs.phase is not Phase.STOPPING and _connector_must_go(desired.connectors.get(name), runs):
            yield ConnectorToStop(name)
    for name, wanted in desired.connectors.items():
        present = running.connectors.get(name)
        if present is None:
            yield ConnectorToStart(wanted)
        elif not _connector_must_go(wanted, present):
            yield from _tend_connector(wanted, present)


def _connector_must_go(wanted: WantedConnector | None, runs: RunningConnector) -> bool:
    return (
        wanted is None
        or runs.restart
        or wanted.generation != runs.generation
        or dict(wanted.config) != dict(runs.config)
    )


def _tend_connector(wanted: WantedConnector, runs: RunningConnector) -> Iterator[Action]:
    if runs.changing:
        return
    if wanted.target is not runs.target and _may_change(wanted.target, runs.phase):
        yield SetConnectorTarget(wanted.name, wanted.target)
        return
    idle = runs.phase is Phase.SETTLED and not runs.publishing
    if idle and runs.target is TargetState.STARTED and (runs.publish_due or wanted.publish):
        yield PublishTasks(wanted.name)


def _may_change(target: TargetState, phase: Phase) -> bool:
    """A failed connector cannot be paused or resumed, only stopped, replaced or restarted."""
    return phase is Phase.SETTLED or (phase is Phase.FAILED and target is TargetState.STOPPED)


def _tasks(desired: DesiredWork, running: Running) -> Iterator[Action]:
    for instance, runs in running.tasks.items():
        if runs.phase is not Phase.STOPPING and _task_must_go(desired.tasks.get(instance), runs):
            yield StopTask(instance)
    for instance, wanted in desired.tasks.items():
        present = running.tasks.get(instance)
        if present is None:
            yield StartTask(wanted)
        elif not _task_must_go(wanted, present) and _target_differs(wanted, present):
            yield SetTaskTarget(instance, wanted.target)


def _task_must_go(wanted: WantedTask | None, runs: RunningTask) -> bool:
    if wanted is None or runs.restart or wanted.generation != runs.generation:
        return True
    if runs.moving and runs.phase is not Phase.FAILED:
        return True
    return wanted.settled and (
        dict(wanted.connector_config) != dict(runs.connector_config)
        or dict(wanted.task_config) != dict(runs.task_config)
        or wanted.partitions != runs.partitions
        # Whoever begins in the newest task set fences all tasks before it, unchanged ones too.
        or runs.fenced_set not in (None, wanted.task_generation)
    )


def _target_differs(wanted: WantedTask, runs: RunningTask) -> bool:
    return wanted.target is not runs.target and runs.phase in (Phase.STARTING, Phase.SETTLED)
