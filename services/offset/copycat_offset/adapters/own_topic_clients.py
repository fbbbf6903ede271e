"""The Kafka clients of one offsets topic of a connector; their calls block."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from copycat_connect.errors import UnavailableError
from copycat_connect.leader_errors import LEADER_ERRORS
from copycat_eventlog.log import Entry, Record
from copycat_eventlog.producers import SILENT

from copycat_offset.domain.errors import OffsetsTopicError

OffsetServiceSettings = Mapping[str, str | int | bool]
READ_COMMITTED: Final = "read_committed"
_POLL_SECONDS: Final = 0.1
_BATCH: Final = 1000
#: librdkafka's own codes, without public names.
_UNKNOWN_TOPIC: Final = -188
_UNKNOWN_PARTITION: Final = -190
_PARTITION_EOF: Final = -191
_AUTO_OFFSET_RESET: Final = -140
#: The topic is gone, or positions in it are.
_GONE: Final = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, _UNKNOWN_TOPIC, _UNKNOWN_PARTITION})
_LOST: Final = frozenset({_AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})
#: What a reader goes on after: it passes, or is said of the group that librdkafka demands of a consumer, to
#: which nothing is committed.
_READ_ON: Final = LEADER_ERRORS | {KafkaError.GROUP_AUTHORIZATION_FAILED}


class TopicLostError(Exception):
    """The topic, or what was read of it, is gone: it must be read anew."""


@dataclass(frozen=True, slots=True)
class TopicAddress:
    """A topic and the brokers that have it, for messages."""

    topic: str
    servers: str
    seconds: float
    """How long a read or a write may take with all its tries."""

    def failure(self, error: KafkaError) -> Exception:
        """Return what an error of Kafka means to who asked."""
        if error.code() in _GONE or error.code() in _LOST:
            return TopicLostError(error.str())
        said_by_client = error.code() < 0  # by no broker
        if error.retriable() or error.code() in LEADER_ERRORS or said_by_client:
            return self.away(error.str())
        return OffsetsTopicError(self.topic, self.servers, error.str())

    def away(self, reason: str) -> UnavailableError:
        """Return what to say when no broker answers."""
        return UnavailableError(
            f"The offsets topic {self.topic} on Kafka at {self.servers} cannot be reached within "
            f"{self.seconds:g} s: {reason}"
        )


class TopicReader:
    """Reads a topic on from where the last call ended, to the end it has at each call."""

    def __init__(self, connection: OffsetServiceSettings, place: TopicAddress, isolation: str) -> None:
        """Connect in the background."""
        self._place = place
        common = {**connection, "group.id": f"{place.topic}-reader", "enable.auto.commit": False}
        self._consumer = Consumer(
            {
                **common,
                "isolation.level": isolation,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 2,
                "queued.min.messages": 10_000,
                "queued.max.messages.kbytes": 4096,
            },
            logger=SILENT,
        )
        # Ends as a read_committed reader sees them stop at open transactions.
        self._probe = Consumer({**common, "isolation.level": "read_uncommitted"}, logger=SILENT)
        self._reached: dict[int, int] = {}

    def read(self) -> Iterable[Sequence[Entry]]:
        """Yield records, in order by partition, up to the ends that the topic has now.

        Raises:
            TopicLostError: What was read so far does not count any more.
            UnavailableError: The end was not reached in time; the next call goes on.
            OffsetsTopicError: The brokers refuse.
        """
        deadline = time.monotonic() + self._place.seconds
        ends = self._ends(deadline)
        if self._reached.keys() != ends.keys():
            if self._reached:
                raise TopicLostError("its partitions changed")
            self._reached = dict.fromkeys(ends, 0)
            self._consumer.assign(
                [TopicPartition(self._place.topic, each, OFFSET_BEGINNING) for each in ends]
            )
        if any(end < self._reached[partition] for partition, end in ends.items()):
            raise TopicLostError("it was made anew")
        while any(self._reached[partition] < end for partition, end in ends.items()):
            if time.monotonic() > deadline:
                missing = sum(max(0, end - self._reached[each]) for each, end in ends.items())
                raise self._place.away(f"{missing} records are still to be read; ask again")
            yield [
                entry
                for message in self._consumer.consume(_BATCH, _POLL_SECONDS)
                if (entry := self._take(message)) is not None
            ]

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close()
        self._probe.close()

    def _ends(self, deadline: float) -> Mapping[int, int]:
        while True:
            try:
                return self._ask_for_ends()
            except KafkaException as error:
                reason = error.args[0]
                if reason.code() not in LEADER_ERRORS or time.monotonic() > deadline:
                    raise self._place.failure(reason) from error
            self._probe.poll(_POLL_SECONDS)

    def _ask_for_ends(self) -> Mapping[int, int]:
        topic = self._place.topic
        known = self._probe.list_topics(topic, timeout=self._place.seconds / 2).topics[topic]
        if known.error is not None:
            raise KafkaException(known.error)
        asked = [TopicPartition(topic, each, OFFSET_END) for each in known.partitions]
        found = self._probe.offsets_for_times(asked, timeout=self._place.seconds / 2)
        for each in found:
            if each.error is not None:
                raise KafkaException(each.error)
        return {each.partition: each.offset for each in found}

    def _take(self, message: Message) -> Entry | None:
        error, partition, offset = message.error(), message.partition(), message.offset()
        if error is None:
            self._advance(partition, offset, 1)
            key = message.key()
            record = Record(key if isinstance(key, bytes) else b"", message.value())
            return Entry(partition or 0, offset or 0, record)
        if error.code() == _PARTITION_EOF:  # past what is no record: the ends of transactions
            self._advance(partition, offset, 0)
        elif error.code() not in _READ_ON and (error.code() >= 0 or error.code() in _LOST):
            raise self._place.failure(error)
        return None

    def _advance(self, partition: int | None, offset: int | None, after: int) -> None:
        if partition is not None and offset is not None:
            self._reached[partition] = max(self._reached[partition], offset + after)


class TopicWriter:
    """Appends to a topic as Kafka Connect's own producer of offsets does."""

    def __init__(self, connection: OffsetServiceSettings, place: TopicAddress) -> None:
        """Connect in the background."""
        self._place = place
        self._producer = Producer(
            {
                **connection,
                "acks": "all",
                "max.in.flight.requests.per.connection": 1,
                "linger.ms": 0,
                "partitioner": "murmur2_random",
                "message.timeout.ms": int(place.seconds * 1000),
            },
            logger=SILENT,
        )

    def write(self, records: Sequence[Record]) -> None:
        """Append records; returns when they are durable.

        Raises:
            UnavailableError: Some may be, some may not.
            OffsetsTopicError: The brokers refuse.
        """
        failed: list[KafkaError] = []

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                failed.append(error)

        for record in records:
            self._queue(record, delivered)
        if self._producer.flush(self._place.seconds + 1) > 0:
            self._producer.purge(blocking=False)
            raise self._place.away("no broker took what was written")
        if failed:
            raise self._place.failure(failed[0])

    def _queue(self, record: Record, delivered: Callable[[KafkaError | None, Message], None]) -> None:
        deadline = time.monotonic() + self._place.seconds
        while True:
            try:
                self._producer.produce(self._place.topic, record.value, record.key, on_delivery=delivered)
            except BufferError:
                if time.monotonic() > deadline:
                    raise self._place.away("no broker took what was written") from None
                self._producer.poll(_POLL_SECONDS)
            except KafkaException as error:
                raise self._place.failure(error.args[0]) from error
            else:
                return
