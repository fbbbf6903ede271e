"""What readers of source offsets see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from copycat_offset.domain.changes import OffsetsChange
from copycat_offset.domain.maps import NULL
from copycat_offset.domain.state import NO_PARTITIONS, OffsetState


def offsets_of(
    state: OffsetState, connector: str, partitions: Iterable[bytes]
) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield each partition asked for with its offset, in the order asked."""
    known = state.connectors.get(connector, NO_PARTITIONS)
    return ((partition, known.get(partition)) for partition in partitions)


def all_offsets(state: OffsetState, connector: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield every partition of a connector that has an offset; the null partition is no partition to list."""
    known = state.connectors.get(connector, NO_PARTITIONS)
    return ((partition, offset) for partition, offset in known.items() if partition != NULL)


def last_change(state: OffsetState, connector: str) -> OffsetsChange | None:
    """Return the last change that a user made of a connector's offsets; None where none is remembered."""
    return state.changes.get(connector)


def with_own(state: OffsetState, own: OffsetState | None, connector: str) -> OffsetState:
    """Return the offsets of a connector that also has a topic of its own; what is there counts first."""
    if own is None:
        return state
    known = state.connectors.get(connector, NO_PARTITIONS)
    found = known.update(own.connectors.get(connector, NO_PARTITIONS))
    return replace(state, connectors=state.connectors.set(connector, found))
