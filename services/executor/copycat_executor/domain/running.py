"""What this worker runs at the moment, and which of it a restart request with flags means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from copycat_connect.cluster import Config, Instance, TargetState, TopicPartition


class Phase(Enum):
    """Where an instance is in its life on this worker."""

    STARTING = auto()
    """On its way to its target state for the first time."""
    SETTLED = auto()
    """In its target state, or changing to it."""
    FAILED = auto()
    """It failed, or its generation is stale: nothing of it runs until it is restarted or taken away."""
    STOPPING = auto()
    """Draining; gone when done."""


@dataclass(frozen=True, slots=True)
class RunningConnector:
    """A connector on this worker."""

    config: Config
    generation: int
    target: TargetState
    """The target state it has, or is changing to."""
    phase: Phase = Phase.STARTING
    changing: bool = False
    """A change of the target state is under way."""
    publish_due: bool = False
    """It is to be asked for task configurations."""
    publishing: bool = False
    """It is being asked for task configurations."""
    restart: bool = False
    """It is to be stopped and started again: somebody asked for it, or it is restarted by itself."""


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A task on this worker."""

    connector_config: Config
    task_config: Config
    partitions: tuple[TopicPartition, ...]
    generation: int
    target: TargetState
    """The target state it was last asked for."""
    phase: Phase = Phase.STARTING
    restart: bool = False
    """It is to be stopped and started again: somebody asked for it, or it is restarted by itself."""
    moving: bool = False
    """Its host is being left."""
    fenced_set: int | None = None
    """The number of the task set for which it asked that all before be fenced; None if it never asked."""


@dataclass(frozen=True, slots=True)
class Running:
    """The connectors and tasks of this worker, whatever their phase."""

    connectors: Mapping[str, RunningConnector]
    tasks: Mapping[Instance, RunningTask]


@dataclass(frozen=True, slots=True)
class UsedPlugin:
    """What a connector is made by."""

    class_name: str
    kind: str
    """source or sink."""
    version: str | None


def instances_to_restart(
    running: Running, connector: str, *, include_tasks: bool, only_failed: bool
) -> tuple[Instance, ...]:
    """Return the instances here to restart: the connector, then its tasks by index."""
    found: list[Instance] = []
    own = running.connectors.get(connector)
    if own is not None and _meant(own.phase, only_failed):
        found.append(Instance(connector))
    if include_tasks:
        tasks = [
            instance
            for instance, task in running.tasks.items()
            if instance.connector == connector and _meant(task.phase, only_failed)
        ]
        found.extend(sorted(tasks, key=lambda instance: instance.task or 0))
    return tuple(found)


def _meant(phase: Phase, only_failed: bool) -> bool:
    return phase is Phase.FAILED if only_failed else phase is not Phase.STOPPING
