"""Where a record went."""

from __future__ import annotations

from typing import NamedTuple


class RecordMetadata(NamedTuple):
    """Where Kafka put a record."""

    topic: str
    """Topic name."""
    partition: int
    """Partition number."""
    offset: int
    """Offset within the partition; -1 when it is not known."""
    timestamp: int | None = None
    """Milliseconds since the epoch the broker stored; None when it is not known."""
