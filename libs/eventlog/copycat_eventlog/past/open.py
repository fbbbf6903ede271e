"""Opens what keeps changes."""

from __future__ import annotations

from copycat_eventlog.log import Codec
from copycat_eventlog.past.history import PastChanges
from copycat_eventlog.past.kafka_keeper import KafkaKeeper
from copycat_eventlog.past.keeper import ChangesKeeper, MemoryKeeper
from copycat_eventlog.past.own_log import Describing, E, OwnLog, S
from copycat_eventlog.past.settings import ChangesSettings
from copycat_eventlog.settings import Backend


def open_keeper(settings: ChangesSettings) -> ChangesKeeper:
    """Return the keeper of a service; it begins at once, and nobody waits for it."""
    return MemoryKeeper() if settings.log.backend is Backend.MEMORY else KafkaKeeper(settings)


def past_changes(
    settings: ChangesSettings, keeper: ChangesKeeper, codec: Codec[E], describing: Describing[E, S]
) -> PastChanges:
    """Return the changes of a service, from its keeper and its own log."""
    memory = settings.log.backend is Backend.MEMORY
    return PastChanges(keeper, None if memory else OwnLog(settings.log, codec, describing, settings.service))
