"""Statuses and active topics: the decision, the fold and the codec around one log."""

from __future__ import annotations

from typing import TypeAlias

from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Log

from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.commands import StatusCommand
from copycat_status.domain.decide import decide
from copycat_status.domain.events import StatusEvent
from copycat_status.domain.evolve import evolve
from copycat_status.domain.state import StatusState

StatusEvents: TypeAlias = EventSourced[StatusCommand, StatusEvent, StatusState]


def event_sourced(log: Log) -> StatusEvents:
    """Return the statuses of a log that was not started; nothing is read before `start`."""
    return EventSourced(Decider(StatusState(), decide, evolve), StatusCodec(), log)
