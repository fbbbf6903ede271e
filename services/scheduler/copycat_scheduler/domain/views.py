"""What is asked about assignments."""

from __future__ import annotations

from copycat_connect.cluster import Instance, in_order

from copycat_scheduler.domain.events import Assigned
from copycat_scheduler.domain.state import SchedulerState


def find_assignment(state: SchedulerState, instance: Instance) -> Assigned | None:
    """Return where an instance runs, or None when it is to run nowhere."""
    return state.assignments.get(instance)


def list_assignments(state: SchedulerState) -> tuple[Assigned, ...]:
    """Return every assignment, by connector, each connector before its tasks."""
    return tuple(state.assignments[instance] for instance in in_order(state.assignments))


def assigned_workers(state: SchedulerState) -> frozenset[str]:
    """Return the ids of the workers to which anything is assigned, whether or not they are there."""
    return frozenset(assigned.worker_id for assigned in state.assignments.values())


def highest_generation(state: SchedulerState) -> int:
    """Return the highest generation of the assignments in force; 0 without any."""
    return max((assigned.generation for assigned in state.assignments.values()), default=0)
