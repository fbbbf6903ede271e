"""The port to Kafka's producer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from copycat_connect.data.records import RecordMetadata

KafkaHeaders = Sequence[tuple[str, bytes | None]]
#: How Kafka writes that a record has no timestamp.
NO_TIMESTAMP: Final = -1
#: Milliseconds since the epoch, one for all records or one for each; None and `NO_TIMESTAMP` mean now.
Times = Sequence[int | None] | int | None
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
    """Milliseconds since the epoch; None and `NO_TIMESTAMP` mean now."""


@dataclass(frozen=True, slots=True)
class PlacedRecords:
    """Records of one partition of a topic, as columns."""

    topic: str
    """Topic to write to."""
    values: Sequence[bytes | None]
    """The values."""
    keys: Sequence[bytes | None] | None
    """The keys, one per value; None when no record has one."""
    headers: Sequence[KafkaHeaders] | None
    """The headers, one list per value; None when no record has any."""
    partition: int | None
    """Partition of all; None lets the producer choose by key."""
    timestamps: Times
    """When each was made."""


class RecordWriter(Protocol):
    """Takes records in order; called by one thread only."""

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; waits while the queue is full.

        Raises:
            DrainedError: The task must end; some of the records may be under way.
        """

    def send_placed(self, records: PlacedRecords, done: Mapping[int, Done]) -> None:
        """Write records with partition, timestamps or headers; waits while the queue is full.

        Args:
            records: The records.
            done: What to call, as `send` does, for some of them, by their index.

        Raises:
            DrainedError: The task must end; some of the records may be under way.
        """

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record; `done` is called from within a later call when it is durable or failed.

        Raises:
            DrainedError: The task must end.
        """


class RecordSender(RecordWriter, Protocol):
    """Writes records in order; called by one thread only.

    The callback the sender was made with gets each record that cannot be written, within a later call.
    """

    def flush(self, seconds: float) -> bool:
        """Wait until everything is durable or failed; False when the time was not enough."""

    def under_way(self) -> int:
        """Return how many records are neither durable nor failed yet."""

    def attend(self) -> None:
        """Let the client report on itself; to be called each second or so, also while nothing is sent."""

    def drop(self) -> None:
        """Drop what is still queued; may be called by any thread."""

    def close(self) -> None:
        """Drop what is still queued and let go of the connections."""
