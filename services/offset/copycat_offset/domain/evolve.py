"""One step of the fold; total."""

from __future__ import annotations

from typing import assert_never

from copycat_offset.domain.events import (
    ChangeForgotten,
    ChangeRemembered,
    OffsetEvent,
    SourceOffsetCommitted,
    SourceOffsetForgotten,
)
from copycat_offset.domain.state import NO_PARTITIONS, OffsetState


def evolve(state: OffsetState, event: OffsetEvent) -> OffsetState:
    """Return the state after an event."""
    known = state.connectors.get(event.connector, NO_PARTITIONS)
    match event:
        case SourceOffsetCommitted(connector, partition, offset):
            return OffsetState(state.connectors.set(connector, known.set(partition, offset)), state.changes)
        case SourceOffsetForgotten(connector, partition):
            if partition not in known:
                return state
            left = known.delete(partition)
            # A forgotten key leaves no trace (L1), so the last partition takes the connector with it.
            connectors = state.connectors.set(connector, left) if left else state.connectors.delete(connector)
            return OffsetState(connectors, state.changes)
        case ChangeRemembered(change):
            return OffsetState(state.connectors, state.changes.set(change.connector, change))
        case ChangeForgotten(connector):
            if connector not in state.changes:
                return state
            return OffsetState(state.connectors, state.changes.delete(connector))
        case _:
            assert_never(event)
