"""Assignments: the decision, the fold and the codec around one log."""

from __future__ import annotations

from typing import TypeAlias

from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Log

from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.domain.commands import SchedulerCommand
from copycat_scheduler.domain.decide import decide
from copycat_scheduler.domain.events import SchedulerEvent
from copycat_scheduler.domain.evolve import evolve
from copycat_scheduler.domain.state import SchedulerState

SchedulerEvents: TypeAlias = EventSourced[SchedulerCommand, SchedulerEvent, SchedulerState]


def event_sourced(log: Log) -> SchedulerEvents:
    """Return the assignments of a log that was not started; nothing is read before `start`."""
    return EventSourced(Decider(SchedulerState(), decide, evolve), SchedulerCodec(), log)
