"""The decision: from what should run, where it runs and who is there, to the next assignments.

It is incremental and cooperative. An instance that has to move is first unassigned, and assigned again when
no worker can be running it any more. What need not move is not touched. Connectors and tasks are balanced
each for themselves: no worker has two more than another. Planning again when nothing changed gives nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias, assert_never

from copycat_connect.cluster import Instance, TopicPartition, in_order

from copycat_scheduler.domain.commands import DesiredConnector, Reschedule, SchedulerCommand
from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned
from copycat_scheduler.domain.partitions import divide
from copycat_scheduler.domain.placement import Placement
from copycat_scheduler.domain.state import SchedulerState

Reads: TypeAlias = Mapping[Instance, tuple[TopicPartition, ...]]


def decide(command: SchedulerCommand, state: SchedulerState) -> tuple[SchedulerEvent, ...]:
    """Return the events the command causes: what to unassign, then what to assign; nothing is refused."""
    match command:
        case Reschedule():
            return _reschedule(command, state)
        case _:
            assert_never(command)


def _reschedule(world: Reschedule, state: SchedulerState) -> tuple[SchedulerEvent, ...]:
    connectors = {Instance(name) for name in world.desired}
    tasks = {Instance(name, task) for name, each in world.desired.items() for task in range(each.tasks)}
    reads = _reads(world.desired, state)
    kept, generations = dict[Instance, str](), dict[Instance, int]()
    for instance, assigned in state.assignments.items():
        if (instance in connectors or instance in tasks) and _stays(assigned, world, reads):
            kept[instance], generations[instance] = assigned.worker_id, assigned.generation
    placement = Placement(world.workers, kept)
    for kind in (connectors, tasks):
        placement.trim(kind, generations)
    free = _free((connectors | tasks) - placement.kept.keys(), placement.kept, world)
    for kind in (connectors, tasks):
        placement.place(kind, in_order(kind & free), world.former)
    removed = state.assignments.keys() - placement.kept.keys() - placement.placed.keys()
    return (
        *map(Unassigned, in_order(removed)),
        *(
            Assigned(each, placement.placed[each], world.generation, reads.get(each, ()))
            for each in in_order(placement.placed)
        ),
    )


def _reads(desired: Mapping[str, DesiredConnector], state: SchedulerState) -> Reads:
    """Return what each task of each sink reads; tasks of a sink whose partitions are unknown keep theirs."""
    reads: dict[Instance, tuple[TopicPartition, ...]] = {}
    for name, each in desired.items():
        if each.partitions == ():
            continue
        tasks = [Instance(name, task) for task in range(each.tasks)]
        current = {task: state.assignments[task].partitions for task in tasks if task in state.assignments}
        if each.partitions is None:
            reads.update(current)
            continue
        held = {index: current.get(task, ()) for index, task in enumerate(tasks)}
        reads.update(zip(tasks, divide(each.partitions, each.tasks, held), strict=True))
    return reads


def _stays(assigned: Assigned, world: Reschedule, reads: Reads) -> bool:
    somewhere = assigned.worker_id in world.workers or assigned.worker_id in world.absent
    return somewhere and reads.get(assigned.instance, ()) == assigned.partitions


def _free(unplaced: Set[Instance], kept: Mapping[Instance, str], world: Reschedule) -> set[Instance]:
    """Return what can be placed at once: nobody runs it, and what it would read nobody else reads."""
    sinks = {name for name, each in world.desired.items() if each.partitions != ()}
    draining = {each.connector for each in world.held if sinks and _is_draining(each, sinks, kept, world)}
    free = set()
    for instance in unplaced:
        if world.held.get(instance):
            continue
        unknown = world.desired[instance.connector].partitions is None
        if instance.task is not None and (unknown or instance.connector in draining):
            continue
        free.add(instance)
    return free


def _is_draining(
    instance: Instance, sinks: Set[str], kept: Mapping[Instance, str], world: Reschedule
) -> bool:
    """Whether a task may still be reading partitions that are given to another task of its sink."""
    return (
        instance.connector in sinks
        and instance.task is not None
        and instance not in kept
        and bool(world.held[instance])
    )
