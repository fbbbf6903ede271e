"""One step of the fold; total."""

from __future__ import annotations

from typing import assert_never

from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned
from copycat_scheduler.domain.state import SchedulerState


def evolve(state: SchedulerState, event: SchedulerEvent) -> SchedulerState:
    """Return the state after an event."""
    match event:
        case Assigned(instance=instance):
            return SchedulerState(state.assignments.set(instance, event))
        case Unassigned(instance):
            if instance not in state.assignments:
                return state
            return SchedulerState(state.assignments.delete(instance))
        case _:
            assert_never(event)
