"""A change of offsets that a user made, as it is remembered: what it moved, and from where to where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

#: Bytes of a record, as far below Kafka's limit of a batch as its JSON may add to the texts counted here.
MAX_REMEMBERED_BYTES: Final = 500_000
#: What one move takes besides its texts: brackets, commas, quotes, numbers.
_MOVE_BYTES: Final = 60


@dataclass(frozen=True, slots=True)
class SourceMove:
    """Where a change takes one source partition."""

    partition: bytes
    """JSON text of the source partition map."""
    before: bytes | None
    """JSON text of the source offset; None where there was none."""
    after: bytes | None
    """JSON text of the source offset; None where it is gone."""


@dataclass(frozen=True, slots=True)
class SinkMove:
    """Where a change takes one partition of a topic."""

    topic: str
    """Topic name."""
    partition: int
    """Partition number."""
    before: int | None
    """The next offset to read; None where none was committed."""
    after: int | None
    """The next offset to read; None where none is committed any more."""


@dataclass(frozen=True, slots=True)
class OffsetsChange:
    """The last change of a connector's offsets that a user asked for."""

    connector: str
    """Connector name."""
    changed_at: int
    """Milliseconds since the epoch."""
    reset: bool
    """All offsets were forgotten; else some were set."""
    undone_at: int | None = None
    """Milliseconds since the epoch; None while it was not undone."""
    group: str = ""
    """Consumer group of a sink; empty for a source."""
    source: tuple[SourceMove, ...] = ()
    """What moved, of a source."""
    sink: tuple[SinkMove, ...] = ()
    """What moved, of a sink."""
    too_large: bool = False
    """More moved than one record can hold: no move is kept."""


def fitting(change: OffsetsChange) -> OffsetsChange:
    """Return the change as one record can hold it; one that is too large loses its moves, and says so."""
    texts = (text for move in change.source for text in (move.partition, move.before, move.after))
    # In JSON a quote or a backslash of a text takes two bytes.
    size = sum(2 * len(text) for text in texts if text is not None)
    size += sum(len(move.topic.encode()) for move in change.sink)
    size += _MOVE_BYTES * (len(change.source) + len(change.sink))
    if size <= MAX_REMEMBERED_BYTES:
        return change
    return replace(change, source=(), sink=(), too_large=True)
