"""Consumers of a sink on Spark: one finds what there is to read, others read ranges of it in partitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ConnectError, OffsetLostError, RetriableError
from copycat_connect.plugin import RecordRange

from copycat_executor.kafka.client_config import ClientConfig
from copycat_executor.kafka.client_statistics import ClientStatistics
from copycat_executor.kafka.connections import LoginWatch
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.kafka.remedies import remedy_for_reading
from copycat_executor.pipeline.records.receiver import KafkaMessage

_ANSWER_TIMEOUT_SECONDS: Final = 5.0
#: A wait for records ends after this time, to look whether a range goes on without any.
_READ_WAIT_SECONDS: Final = 0.5
#: Between two looks how many partitions topics have.
_LOOK_SECONDS: Final = 10.0


class RangePlanner(KafkaReceiver):
    """Reads nothing itself: divides what there is into ranges, and has the positions behind what is done."""

    def __init__(
        self, config: ClientConfig, replaced: Callable[[], object], statistics: ClientStatistics | None
    ) -> None:
        super().__init__(config, replaced, statistics)
        self._positions: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, int] = {}

    def _read_from(self, start: Mapping[TopicPartition, int]) -> None:
        self._assigned = [ClientPartition(*partition) for partition in start]
        self._positions, self._ends = dict(start), {}

    def restarted(self, *, wait: bool) -> dict[TopicPartition, int]:
        """Return where topics begin that were made anew; also hears what the client reports meanwhile."""
        self._consumer.poll(0)  # nothing is read, so that errors and statistics would wait for ever
        return super().restarted(wait=wait)

    def shares(self, most: int, records: int) -> list[list[RecordRange]]:
        """Divide what is to be read next into shares alike, at most so many (`most`) of so many records.

        Partitions with few records come first, so that one with many does not keep the others waiting.

        Raises:
            RetriableError: Kafka cannot be reached now.
        """
        self._check()
        self._ends = {each: self._end(each) for each in self._positions}
        left = {each: max(0, self._ends[each] - begin) for each, begin in self._positions.items()}
        size = max(1, min(records, -(-sum(left.values()) // most)))
        shares: list[list[RecordRange]] = [[]]
        room = size
        for partition in sorted(filter(left.__getitem__, left), key=left.__getitem__):
            begin, end = self._positions[partition], self._ends[partition]
            while begin < end:
                if not room and len(shares) == most:
                    return shares
                if not room:
                    shares.append([])
                    room = size
                part = min(room, end - begin)
                shares[-1].append(RecordRange(partition, begin, begin + part))
                begin, room = begin + part, room - part
        return shares if shares[0] else []

    def done(self, ranges: Iterable[RecordRange]) -> None:
        """Go on behind ranges, which follow what was done before."""
        for each in ranges:
            self._positions[each.partition] = each.end

    def positions(self) -> dict[TopicPartition, int]:
        """Return where each partition is to be read on."""
        return dict(self._positions)

    def lag(self) -> int:
        """Return how many records the partition that is most behind had left at the last look."""
        left = (end - self._positions[each] for each, end in self._ends.items())
        return max(0, *left) if self._ends else 0

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Go on at these offsets in these partitions."""
        self._positions |= offsets

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Do nothing: who plans no ranges reads nothing."""

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Do nothing: see `pause`."""

    def _end(self, partition: TopicPartition) -> int:
        return watermarks(self._consumer, partition, self._login)[1]


class RangeReceiver(KafkaReceiver):
    """Reads ranges, each of a partition of its own."""

    def __init__(
        self, config: ClientConfig, replaced: Callable[[], object], statistics: ClientStatistics | None
    ) -> None:
        # What is wanted is there already, so that brokers need not wait for more.
        properties = {**config.properties, "enable.partition.eof": "true", "fetch.wait.max.ms": "5"}
        super().__init__(replace(config, properties=properties), replaced, statistics)
        self._reached: dict[tuple[str, int], int] = {}

    def messages(self, ranges: Sequence[RecordRange], most: int) -> Iterator[list[KafkaMessage]]:
        """Yield the records of ranges, at most so many (`most`) at once, in order per partition.

        Offsets without a record, such as those of markers of transactions, are passed over.

        Raises:
            ConnectError: Kafka refuses for good.
        """
        ends: dict[tuple[str, int], int] = {each.partition: each.end for each in ranges}
        reached = self._reached = {each.partition: each.begin for each in ranges}
        self._read_from({each.partition: each.begin for each in ranges})
        while any(reached[each] < end for each, end in ends.items()):
            if messages := self.read(most, _READ_WAIT_SECONDS):
                wanted = self._within(messages, ends)
                if wanted:
                    yield wanted

    def _within(
        self, messages: list[KafkaMessage], ends: Mapping[tuple[str, int], int]
    ) -> list[KafkaMessage]:
        """Return the messages before the ends, and note how far they reach; no more is read behind an end."""
        reached = self._reached
        if len(ends) == 1:
            ((only, end),) = ends.items()
            last = messages[-1].offset() + 1
            reached[only] = max(reached[only], last)  # the end itself may have come with them
            return messages if last <= end else [each for each in messages if each.offset() < end]
        wanted = []
        for message in messages:
            place, offset = (message.topic(), message.partition()), message.offset()
            reached[place] = max(reached[place], offset + 1)
            if offset < ends[place]:
                wanted.append(message)
        if len(wanted) < len(messages):
            self.pause(TopicPartition(*each) for each, end in ends.items() if reached[each] >= end)
        return wanted

    def _without_errors(self, messages: list[Message]) -> list[Message]:
        others = []
        for message in messages:
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                place = (str(message.topic()), message.partition() or 0)
                self._reached[place] = max(self._reached[place], message.offset() or 0)
            else:
                others.append(message)
        return super()._without_errors(others)


class TopicBounds(KafkaReceiver):
    """Reads nothing itself: says where the partitions of topics begin and end."""

    def __init__(
        self, config: ClientConfig, replaced: Callable[[], object], statistics: ClientStatistics | None
    ) -> None:
        super().__init__(config, replaced, statistics)
        self._partitions: dict[str, int] = {}
        self._looked = 0.0

    def bounds(
        self, topics: Collection[str], read: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return the first offset, and that behind what may be read, of each partition of topics.

        Args:
            topics: Their names.
            read: The offset up to which partitions were read that were read before.

        Raises:
            ConnectError: Kafka refuses for good.
            OffsetLostError: A topic was deleted and made anew.
            RetriableError: Kafka cannot be reached now.
        """
        self._check()
        self._consumer.poll(0)  # nothing is read, so that errors and statistics would wait for ever
        known = all(map(self._partitions.get, topics))
        if not known or time.monotonic() - self._looked >= _LOOK_SECONDS:
            self._partitions = {topic: self._count(topic) for topic in topics}
            self._looked = time.monotonic()
        found = {
            each: watermarks(self._consumer, each, self._login)
            for topic, count in self._partitions.items()
            for each in (TopicPartition(topic, number) for number in range(count))
        }
        for (topic, number), (_, end) in found.items():
            if end < (begin := read.get(TopicPartition(topic, number), 0)):
                raise OffsetLostError(
                    f"{topic}-{number} ends at {end}, and was read up to {begin}: the topic was deleted and "
                    "made anew. Stop the connector and reset its offsets (DELETE offsets) to read it from "
                    "its beginning, or alter them (PATCH offsets)"
                )
        return found

    def _count(self, topic: str) -> int:
        """Return how many partitions a topic has, 0 where it is not there."""
        try:
            found = self._consumer.list_topics(topic, timeout=_ANSWER_TIMEOUT_SECONDS).topics[topic]
        except KafkaException as error:
            self._login.check()
            raise RetriableError(f"Cannot find the partitions of {topic}") from error
        if found.error is None:
            return len(found.partitions)
        if found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return 0
        raise ConnectError(f"Cannot read {topic}: {remedy_for_reading(found.error)}")


def watermarks(consumer: Consumer, partition: TopicPartition, login: LoginWatch) -> tuple[int, int]:
    """Return the first offset, and that behind what may be read.

    With `read_committed` that is before open transactions.

    Raises:
        RetriableError: Kafka cannot be reached now.
    """
    try:
        low, high = consumer.get_watermark_offsets(
            ClientPartition(*partition), timeout=_ANSWER_TIMEOUT_SECONDS
        )
    except KafkaException as error:
        consumer.poll(0)  # hears why
        login.check()
        raise RetriableError(f"Cannot find the end of {partition.topic}-{partition.partition}") from error
    return int(low), int(high)
