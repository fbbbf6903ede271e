"""What readers of source offsets see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
