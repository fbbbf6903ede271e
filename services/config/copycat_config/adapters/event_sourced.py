"""Configurations, target states and task sets: the decision, the fold and the codec around one log."""

from __future__ import annotations

from typing import TypeAlias

from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Log

from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.commands import ConfigCommand
from copycat_config.domain.decide import decide
from copycat_config.domain.events import ConfigEvent
from copycat_config.domain.evolve import evolve
from copycat_config.domain.state import ConfigState

ConfigEvents: TypeAlias = EventSourced[ConfigCommand, ConfigEvent, ConfigState]


def event_sourced(log: Log) -> ConfigEvents:
    """Return the configurations of a log that was not started; nothing is read before `start`."""
    return EventSourced(Decider(ConfigState(), decide, evolve), ConfigCodec(), log)
