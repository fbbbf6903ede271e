"""What an executor does next; a closed union."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from copycat_connect.cluster import Instance, TargetState

from copycat_executor.domain.desired import WantedConnector, WantedTask


@dataclass(frozen=True, slots=True)
class StartConnector:
    """Bring a connector to its target state."""

    wanted: WantedConnector


@dataclass(frozen=True, slots=True)
class SetConnectorTarget:
    """Pause, resume or stop a connector that stays here."""

    name: str
    target: TargetState


@dataclass(frozen=True, slots=True)
class StopConnector:
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
    StartConnector | SetConnectorTarget | StopConnector | PublishTasks | StartTask | SetTaskTarget | StopTask
)


def connector_of(action: Action) -> str:
    """Return the connector that an action is about, or to whose task it is done."""
    match action:
        case StartConnector(wanted):
            return wanted.name
        case SetConnectorTarget(name=name) | StopConnector(name) | PublishTasks(name):
            return name
        case StartTask(task):
            return task.instance.connector
        case SetTaskTarget(instance=instance) | StopTask(instance):
            return instance.connector
        case _:
            assert_never(action)
