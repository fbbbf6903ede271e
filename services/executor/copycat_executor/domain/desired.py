"""What this worker should run: its assignments joined with the connectors' configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.cluster import Config, Instance, TargetState, TopicPartition


@dataclass(frozen=True, slots=True)
class Configured:
    """A connector as the config service has it."""

    name: str
    config: Config
    target: TargetState
    tasks: tuple[Config, ...] = ()
    """The committed task configurations, by index."""
    inconsistent: bool = False
    """The task records make no whole set."""
    outdated: bool = False
    """The task set was made from another configuration than the one in force."""
    task_generation: int = 0
    """Counts the task sets committed so far."""


@dataclass(frozen=True, slots=True)
class AssignedGeneration:
    """The worker and the generation that the scheduler gave an instance."""

    worker_id: str
    generation: int
    since: int
    """The first generation of this worker's unbroken hold on the instance."""
    partitions: tuple[TopicPartition, ...] = ()
    """What a sink task reads."""


@dataclass(frozen=True, slots=True)
class WantedConnector:
    """A connector this worker should run."""

    name: str
    config: Config
    target: TargetState
    generation: int
    publish: bool
    """Its task set is to be made anew."""


@dataclass(frozen=True, slots=True)
class WantedTask:
    """A task this worker should run."""

    instance: Instance
    connector_config: Config
    task_config: Config
    task_count: int
    target: TargetState
    generation: int
    partitions: tuple[TopicPartition, ...]
    settled: bool
    """False while a new task set is being made: a running task keeps what it has until then."""
    task_generation: int = 0
    """The number of the task set it belongs to."""


@dataclass(frozen=True, slots=True)
class DesiredWork:
    """All this worker should run."""

    connectors: Mapping[str, WantedConnector]
    tasks: Mapping[Instance, WantedTask]


NOTHING = DesiredWork({}, {})


def assign(
    before: AssignedGeneration | None, worker_id: str, generation: int, partitions: tuple[TopicPartition, ...]
) -> AssignedGeneration:
    """Return the assignment that follows `before` in the log.

    A new generation on the same worker, with no gap in between, continues its hold: what an earlier start of
    the task acknowledged is then safe to commit under the new generation, since nobody else ran it (I2).
    """
    continued = before is not None and before.worker_id == worker_id
    since = before.since if continued and before is not None else generation
    return AssignedGeneration(worker_id, generation, since, partitions)


def generation_for(generation: int, assigned: AssignedGeneration | None, worker_id: str) -> int:
    """Return the generation under which to commit what a start of `generation` achieved."""
    if assigned is None or assigned.worker_id != worker_id or generation < assigned.since:
        return generation
    return max(generation, assigned.generation)


def desired(
    configured: Mapping[str, Configured], assigned: Mapping[Instance, AssignedGeneration], worker_id: str
) -> DesiredWork:
    """Join assignments and configurations; what lacks one of the two is not wanted."""
    connectors: dict[str, WantedConnector] = {}
    tasks: dict[Instance, WantedTask] = {}
    for instance, assignment in assigned.items():
        connector = configured.get(instance.connector)
        if assignment.worker_id != worker_id or connector is None:
            continue
        if instance.task is None:
            connectors[instance.connector] = _wanted_connector(connector, assignment)
        elif instance.task < len(connector.tasks) and connector.target is not TargetState.STOPPED:
            tasks[instance] = _wanted_task(instance, connector, assignment)
    return DesiredWork(connectors, tasks)


def _wanted_connector(connector: Configured, assignment: AssignedGeneration) -> WantedConnector:
    return WantedConnector(
        name=connector.name,
        config=connector.config,
        target=connector.target,
        generation=assignment.generation,
        publish=connector.inconsistent or connector.outdated,
    )


def _wanted_task(instance: Instance, connector: Configured, assignment: AssignedGeneration) -> WantedTask:
    return WantedTask(
        instance=instance,
        connector_config=connector.config,
        task_config=connector.tasks[instance.task_number],
        task_count=len(connector.tasks),
        target=connector.target,
        generation=assignment.generation,
        partitions=assignment.partitions,
        settled=not connector.outdated,
        task_generation=connector.task_generation,
    )
