"""The port to Kafka's consumer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, cast

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.records import SinkRecord


class KafkaMessage(Protocol):
    """A record as Kafka stored it; the methods are those of confluent-kafka's message."""

    def topic(self) -> str:
        """Return the name of its topic."""

    def partition(self) -> int:
        """Return the number of its partition."""

    def offset(self) -> int:
        """Return its offset in the partition."""

    def key(self) -> bytes | None:
        """Return the key's bytes; None when it has no key."""

    def value(self) -> bytes | None:
        """Return the value's bytes; None for a tombstone."""

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        """Return the headers, or None."""

    def timestamp(self) -> tuple[int, int]:
        """Return the kind of timestamp and the milliseconds since the epoch."""


class RecordReceiver(Protocol):
    """Reads assigned partitions; called by one thread only. It joins no group and commits nothing."""

    def committed(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int | None]:
        """Return the group's positions as they are now, null where a partition has no position.

        A consumer that reads only what is committed waits for open transactions that change them.

        Raises:
            RetriableError: Kafka cannot be reached now, or a transaction is open for too long.
            ConnectError: The group may not be read.
        """

    def assign(self, offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
        """Begin to read; a partition without offset begins where the consumer's settings say. Returns where.

        Raises:
            RetriableError: Kafka cannot be reached now.
            ConnectError: A partition is not there or may not be read.
        """

    def restarted(self, *, wait: bool) -> dict[TopicPartition, int]:
        """Return where the partitions begin whose topic was deleted and made anew, each once.

        What was read of them before may be of the former topic.

        Args:
            wait: Look now; else a look is made now and then, and noticed by one of the next calls.
        """

    def read(self, most: int, seconds: float) -> list[KafkaMessage]:
        """Return the next records, in order per partition; waits for the first.

        Raises:
            ConnectError: Kafka refuses for good.
        """

    def positions(self) -> dict[TopicPartition, int]:
        """Return the next offset of each partition that something was read of since it began or sought."""

    def lag(self) -> int:
        """Return how many records the partition that is most behind has left, as far as is known."""

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on at these offsets in these partitions."""

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Read no more from these partitions."""

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Read from these partitions again."""

    def close(self) -> None:
        """Let go of the connections."""


class TracedRecord(SinkRecord):
    """A sink record with its message, which survives transformations; made when failures are reported."""

    __slots__ = ("message",)

    message: KafkaMessage

    def _copy(self) -> TracedRecord:
        copy = TracedRecord(
            self.topic,
            cast("int", self.kafka_partition),
            self.offset,
            self.key,
            self.value,
            self.key_schema,
            self.value_schema,
            self.timestamp,
            self.timestamp_type,
            tuple(self._headers) if self.has_headers else (),
        )
        copy.original_topic = self.original_topic
        copy.original_partition = self.original_partition
        copy.original_offset = self.original_offset
        copy.message = self.message
        return copy
