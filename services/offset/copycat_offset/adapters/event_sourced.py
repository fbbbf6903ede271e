"""Source offsets: the decision, the fold and the codec around one log."""

from __future__ import annotations

from typing import TypeAlias

from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Log

from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.domain.commands import OffsetCommand
from copycat_offset.domain.decide import decide
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.state import OffsetState

OffsetEvents: TypeAlias = EventSourced[OffsetCommand, OffsetEvent, OffsetState]


def event_sourced(log: Log) -> OffsetEvents:
    """Return the offsets of a log that was not started; nothing is read before `start`."""
    return EventSourced(Decider(OffsetState(), decide, evolve), OffsetCodec(), log)
