"""The port to Kafka's producer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from copycat_connect.data.record_metadata import RecordMetadata

KafkaHeaders = Sequence[tuple[str, bytes | None]]
Done = Callable[[RecordMetadata | None, Exception | None], None]


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record as Kafka stores it."""

    topic: str
    """Topic to write to."""
    value: bytes | None
    """The value."""
    key: bytes | None = None
    """The key."""
    headers: KafkaHeaders = ()
    """The headers."""
    partition: int | None = None
    """Partition; None lets the producer choose by key."""
    timestamp: int | None = None
    """Milliseconds since the epoch; None means now."""


class RecordSender(Protocol):
    """Writes records in order; called by one thread only.

    The callback the sender was made with gets each record that cannot be written, within a later call.
    """

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; waits while the queue is full.

        Raises:
            DrainedError: The task must end; some of the records may be under way.
        """

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record; `done` is called from within a later call when it is durable or failed.

        Raises:
            DrainedError: The task must end.
        """

    def flush(self, seconds: float) -> bool:
        """Wait until everything is durable or failed; False when the time was not enough."""

    def under_way(self) -> int:
        """Return how many records are neither durable nor failed yet."""

    def drop(self) -> None:
        """Drop what is still queued; may be called by any thread."""

    def close(self) -> None:
        """Drop what is still queued and let go of the connections."""
