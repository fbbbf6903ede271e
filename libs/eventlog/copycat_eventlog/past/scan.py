"""Reads partitions of a topic from their beginning to where they end now, bounded in time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.cimpl import OFFSET_BEGINNING
from copycat_connect.errors import UnavailableError

from copycat_eventlog.log import Entry, Record

SCAN_SECONDS: Final = 20.0
BATCH: Final = 1_000
POLL_SECONDS: Final = 0.5
#: Passes by itself, or the client is still looking for the partition's leader.
_MISSING: Final = frozenset({
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
})  # fmt: skip


class TopicScan:
    """Reads one topic, once at a time: a reader that asks for it again and again slows down itself alone."""

    def __init__(
        self, connection: Mapping[str, str | int | bool], topic: str, seconds: float = SCAN_SECONDS
    ) -> None:
        """`connection` is the connection part of a librdkafka configuration; nothing is connected yet."""
        self._topic = topic
        self._seconds = seconds
        self._config: dict[str, Any] = {
            **connection,
            "group.id": "copycat-history",  # named, never joined: nothing is committed
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
        self._turn = asyncio.Lock()

    async def run(self, visit: Callable[[Entry, int], None], only: Collection[int] | None = None) -> None:
        """Pass every record, with the time of its batch in milliseconds, to `visit` in another thread.

        Args:
            visit: Takes the records of each partition in their order.
            only: The partitions to read; without it all of them. Those that do not exist hold nothing.

        Raises:
            UnavailableError: They were not read in time.
        """
        cancelled = threading.Event()
        try:
            async with self._turn:
                await asyncio.to_thread(self._run, visit, only, cancelled)
        finally:
            cancelled.set()

    def _run(
        self, visit: Callable[[Entry, int], None], only: Collection[int] | None, cancelled: threading.Event
    ) -> None:
        deadline = time.monotonic() + self._seconds
        with closing(Consumer(self._config)) as consumer:
            open_ones = self._assign(consumer, only)
            while open_ones and not cancelled.is_set():
                for message in consumer.consume(BATCH, POLL_SECONDS):
                    if not _ended(message, open_ones):
                        visit(_entry(message), message.timestamp()[1])
                if time.monotonic() > deadline:
                    raise self._late()

    def _assign(self, consumer: Consumer, only: Collection[int] | None) -> set[int]:
        try:
            known = consumer.list_topics(self._topic, self._seconds).topics[self._topic]
        except KafkaException:
            raise self._late() from None
        there = {number for number in known.partitions if only is None or number in only}
        consumer.assign([TopicPartition(self._topic, number, OFFSET_BEGINNING) for number in there])
        return there

    def _late(self) -> UnavailableError:
        return UnavailableError(
            f"Topic {self._topic} could not be read within {self._seconds:g} s: are the brokers there? Ask"
            " again, or for a shorter history"
        )


def _ended(message: Message, open_ones: set[int]) -> bool:
    """Return whether a message is no record; note where a partition ends, or is gone."""
    error = message.error()
    if error is None:
        return False
    number = message.partition()
    if error.code() == KafkaError._PARTITION_EOF or error.code() in _MISSING:
        if number is not None and number >= 0:
            open_ones.discard(number)
        else:
            open_ones.clear()
    return True


def _entry(message: Message) -> Entry:
    key: Any = message.key()
    value: Any = message.value()
    return Entry(message.partition() or 0, message.offset() or 0, Record(key or b"", value))
