"""What every producer behind the pipeline's port does: queue records, and hear what became of them."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, islice, repeat
from operator import length_hint
from pathlib import Path
from typing import Final, cast

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from copycat_connect.config.client_choices import Placing, placing_of
from copycat_connect.data.records import RecordMetadata
from copycat_connect.errors import ConnectError
from copycat_connect.files import full_disk

from copycat_executor.kafka.client_config import ClientConfig
from copycat_executor.kafka.client_statistics import ClientStatistics
from copycat_executor.kafka.connections import BOOTSTRAP_SERVERS, LoginWatch, check_brokers
from copycat_executor.kafka.remedies import not_written
from copycat_executor.pipeline.records.sender import (
    NO_TIMESTAMP,
    Done,
    KafkaHeaders,
    OutgoingRecord,
    PlacedRecords,
    Times,
)

OnFailure = Callable[[Exception, object], None]
OnDelivery = Callable[[KafkaError | None, Message], None]

_log = logging.getLogger(__name__)
#: While the client's queue is full, between two looks whether the task must end.
QUEUE_FULL_WAIT_SECONDS: Final = 0.05
_ANY_PARTITION: Final = -1
#: To librdkafka the timestamp 0 means now, so that the epoch itself cannot be written.
_NOW: Final = 0
_NEXT_TO_EPOCH: Final = 1
#: For how long the number of a topic's partitions counts: Java's `metadata.max.age.ms`.
_COUNT_AGE_SECONDS: Final = 300.0
_NEW_TOPIC_WAIT_SECONDS: Final = 5.0
#: Meanwhile no other thread runs; this takes some 5 ms.
_RECORDS_WITHOUT_A_BREAK: Final = 10_000


class Producing(ABC):
    """Writes records through librdkafka; its subclasses say what is done about failures.

    Without `report_each` successes cost nothing: only failures come back, within `_poll` and `flush`.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        on_failure: OnFailure,
        draining: Callable[[], bool],
        report_each: bool,
        statistics: ClientStatistics | None,
    ) -> None:
        """Prepare; `draining` ends waits for room in the queue, `statistics` hears what the client reports.

        Raises:
            ConfigError: The brokers' addresses are invalid.
        """
        check_brokers(config)
        self._config = config
        self._on_failure = on_failure
        self._draining = draining
        self._report_each = report_each
        self._statistics = statistics
        self._closed = False
        self._login = LoginWatch("producer", config.properties[BOOTSTRAP_SERVERS])
        self._accepted = 0
        self._topic = ""
        #: Topics of records that may be on their way, and topics that took some before: these were there.
        self._topics: set[str] = set()
        self._written: set[str] = set()
        self._met_epoch = False
        self._producer = self._connect()
        in_turn = placing_of(config.java) is Placing.ROUND_ROBIN
        self._turns = _Turns(self._count_partitions) if in_turn else None

    def _connect(self) -> Producer:
        properties: dict[str, object] = {
            **self._config.properties,
            **self._settings(),
            "on_delivery": self._delivered,
            "delivery.report.only.error": not self._report_each,
            "error_cb": self._login.note,
            **(self._statistics.settings if self._statistics else {}),
        }
        return Producer(properties, logger=_log)

    def _settings(self) -> dict[str, object]:
        """Return settings that are not in the configuration."""
        return {}

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; waits while the queue is full."""
        if self._turns is not None:
            self.send_placed(PlacedRecords(topic, values, keys, None, None, None), {})
            return
        _check_lengths(values, keys)
        self._take(topic, len(values))
        produce = self._producer.produce
        if keys is None:
            for value in values:
                try:
                    produce(topic, value)
                except (BufferError, KafkaException) as error:
                    self._again(error, OutgoingRecord(topic, value))
                    produce = self._producer.produce
        else:
            for value, key in zip(values, keys, strict=True):
                try:
                    produce(topic, value, key)
                except (BufferError, KafkaException) as error:
                    self._again(error, OutgoingRecord(topic, value, key))
                    produce = self._producer.produce
        self._poll(0)

    def send_placed(self, records: PlacedRecords, done: Mapping[int, Done]) -> None:
        """Write records with partition, timestamps or headers; waits while the queue is full."""

        def record_at(place: int) -> tuple[OutgoingRecord, Done | None]:
            return _placed(records, place), done.get(place)

        count, nothing = len(records.values), repeat(None)
        single = None if isinstance(records.timestamps, int) else records.timestamps
        _check_lengths(records.values, records.keys, records.headers, single)
        callbacks: list[OnDelivery | None] = [None] * count
        for place, each in done.items():
            callbacks[place] = self._on_delivery(_placed(records, place), each)
        self._take(records.topic, count)
        stamps = self._stamps(records.timestamps)
        # By position, since names cost a third: after the partition come two names of the callback, of
        # which the client takes the first that is given, also as None.
        columns: list[Iterable[object]] = [
            records.keys or nothing,
            self._partitions(records.topic, records.partition),
            callbacks,
            nothing,
            stamps,
        ]
        if records.headers is not None:
            columns.append([each or None for each in records.headers])
        self._produce_columns(records.topic, records.values, columns, record_at)

    def _produce_columns(
        self,
        topic: str,
        values: Sequence[bytes | None],
        columns: Iterable[Iterable[object]],
        record_at: Callable[[int], tuple[OutgoingRecord, Done | None]],
    ) -> None:
        """Call the client for each value and what belongs to it, without a step of Python for a record."""
        left, others = iter(values), [iter(each) for each in columns]
        while length_hint(left):
            some = islice(left, _RECORDS_WITHOUT_A_BREAK)
            try:
                # `map` calls, and a deque that keeps nothing makes it go on to the end.
                deque(map(self._producer.produce, repeat(topic), some, *others), maxlen=0)
            except (BufferError, KafkaException) as error:
                self._again(error, *record_at(len(values) - length_hint(left) - 1))
        self._poll(0)

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record; waits while the queue is full."""
        self._take(record.topic, 1)
        try:
            self._produce(record, done)
        except (BufferError, KafkaException) as error:
            self._again(error, record, done)
        self._poll(0)

    def obstacle(self) -> str:
        """Return why Kafka takes nothing, as far as it is known; empty while it does. Any thread may ask."""
        why, folder = self._why(), self._config.broker_data_dir
        if not why:
            return ""
        full = full_disk(Path(folder)) if folder else ""
        told = f"{why}: {full}" if full else why
        return f"Kafka at {self._config.properties[BOOTSTRAP_SERVERS]} takes nothing: {told}"

    def _why(self) -> str:
        """Return what is known of it."""
        return ""

    def under_way(self) -> int:
        """Return how many records are neither durable nor failed yet."""
        return len(self._producer)

    def attend(self) -> None:
        """Hear the client's statistics: between two records nobody else asks for what it reports."""
        if self._statistics is not None:
            with suppress(KafkaException, SystemError):  # what it raises here, it raises at the next record
                self._producer.poll(0)

    def drop(self) -> None:
        """Drop what is still queued; may be called by any thread."""
        self._closed = True
        with suppress(RuntimeError):  # its own thread has closed the client meanwhile
            self._producer.purge()

    def _take(self, topic: str, count: int) -> None:
        self._topic, self._accepted = topic, self._accepted + count
        self._topics.add(topic)

    def _all_durable(self) -> None:
        """Note that all that was taken is durable, or failed and was reported."""
        self._written |= self._topics
        self._topics.clear()

    def _refusal(self, topic: str, error: KafkaError) -> ConnectError:
        return not_written(topic, error, was_there=topic in self._written)

    def _produce(self, record: OutgoingRecord, done: Done | None) -> None:
        self._producer.produce(
            record.topic,
            record.value,
            record.key,
            partition=next(self._partitions(record.topic, record.partition)),
            on_delivery=self._on_delivery(record, done),
            timestamp=self._stamp(record.timestamp),
            headers=list(record.headers) or None,
        )

    def _partitions(self, topic: str, named: int | None) -> Iterator[int]:
        """Return where the next records go, one after the other."""
        if named is not None:
            return repeat(named)
        return repeat(_ANY_PARTITION) if self._turns is None else self._turns.of(topic)

    def _count_partitions(self, topic: str) -> int:
        """Ask how many a topic has; waits for one that is being created, 0 for one that is not there."""
        until = time.monotonic() + _NEW_TOPIC_WAIT_SECONDS
        while True:
            with suppress(KafkaException):  # what is wrong shows when it is written to
                if (
                    partitions := self._producer.list_topics(topic, _NEW_TOPIC_WAIT_SECONDS)
                    .topics[topic]
                    .partitions
                ):
                    return len(partitions)
            if time.monotonic() >= until or self._draining():
                return 0
            self._poll(QUEUE_FULL_WAIT_SECONDS)

    def _stamps(self, timestamps: Times) -> Iterable[int]:
        if timestamps is None or isinstance(timestamps, int):
            return repeat(self._stamp(timestamps))
        if None not in timestamps and min(cast("Sequence[int]", timestamps), default=1) > 0:
            return cast("Sequence[int]", timestamps)  # as a rule: no step of Python for a record
        return [*map(self._stamp, timestamps)]

    def _stamp(self, timestamp: int | None) -> int:
        """Return what stands for a timestamp with the client."""
        if timestamp is None or timestamp == NO_TIMESTAMP:
            return _NOW
        if timestamp:
            return timestamp
        if not self._met_epoch:
            self._met_epoch = True
            _log.warning(
                "A record has the timestamp 0, which this Kafka client cannot write: it and all such records "
                "of this task get 1, a millisecond after the epoch. First met for topic %s",
                self._topic,
            )
        return _NEXT_TO_EPOCH

    @abstractmethod
    def _again(self, error: Exception, record: OutgoingRecord, done: Done | None = None) -> None:
        """Deal with a record that was not queued: wait for room, or give it up."""

    @abstractmethod
    def _poll(self, seconds: float) -> None:
        """Let the client report what became of records."""

    def _on_delivery(self, record: OutgoingRecord, done: Done | None) -> OnDelivery:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._failed(error, message, record, done)
            elif done is not None:
                done(_metadata(message), None)

        return delivered

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        """Note what became of a plain record; called by the client within `poll` and `flush`."""
        if error is not None:
            topic, partition = message.topic() or "", message.partition()
            headers = cast("KafkaHeaders", message.headers() or ())
            timestamp = message.timestamp()[1]
            record = OutgoingRecord(topic, message.value(), message.key(), headers, partition, timestamp)
            self._failed(error, message, record, None)

    def _failed(self, error: KafkaError, message: Message, record: OutgoingRecord, done: Done | None) -> None:
        """Note a record that the client gave up."""
        self._gave_up(self._refusal(record.topic, error), message, done)

    def _gave_up(self, error: Exception, record: object, done: Done | None) -> None:
        if self._closed:
            return
        if done is not None:
            done(None, error)
        self._on_failure(error, record)


class _Turns:
    """Sends records to each partition of their topic in its turn (`RoundRobinPartitioner`)."""

    def __init__(self, count: Callable[[str], int]) -> None:
        """`count` says how many partitions a topic has; 0 where it is not known."""
        self._count = count
        #: By topic: when to count anew, how many there were, and whose turn it is.
        self._topics: dict[str, tuple[float, int, Iterator[int]]] = {}

    def of(self, topic: str) -> Iterator[int]:
        """Return the partitions whose turn comes, without end."""
        now = time.monotonic()
        until, known, turn = self._topics.get(topic, (now, -1, repeat(_ANY_PARTITION)))
        if now >= until:
            count = self._count(topic)
            if count != known:
                turn = cycle(range(count)) if count else repeat(_ANY_PARTITION)
            until = now + (_COUNT_AGE_SECONDS if count else _NEW_TOPIC_WAIT_SECONDS)
            self._topics[topic] = until, count, turn
        return turn


def _check_lengths(values: Sequence[object], *columns: Sequence[object] | None) -> None:
    if any(each is not None and len(each) != len(values) for each in columns):
        raise ValueError("A batch has columns of several lengths")


def _placed(records: PlacedRecords, place: int) -> OutgoingRecord:
    stamps = records.timestamps
    return OutgoingRecord(
        records.topic,
        records.values[place],
        None if records.keys is None else records.keys[place],
        () if records.headers is None else records.headers[place],
        records.partition,
        stamps if stamps is None or isinstance(stamps, int) else stamps[place],
    )


def _metadata(message: Message) -> RecordMetadata:
    _, stamp = message.timestamp()
    return RecordMetadata(message.topic() or "", message.partition() or 0, message.offset() or 0, stamp)
