"""The data of a measurement: 143-byte JSON lines in files and topics, and samples of what systems wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Final

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_testkit.eventually import wait

_LINE: Final = (
    '{{"id":{number},"user":"user-{user:06d}","action":"page_view","path":"/products/{user:06d}",'
    '"agent":"Mozilla/5.0 (X11; Linux x86_64) Gecko","ms":{ms}}}'
)
LINE_BYTES: Final = 143
#: How many values a sample has.
SAMPLE: Final = 1000
#: What a broker answers for a partition of which it is not the leader yet.
_NOT_YET_LED: Final = frozenset({
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
})  # fmt: skip
#: Cores that measurements of Spark use, and partitions of their topics.
CORES: Final = 2
#: Records that are appended at once.
_GROWTH: Final = 200_000
#: Seconds between two looks at how far records have come.
PACE: Final = 0.01
_NAMES = ("id", "user", "action", "path", "agent", "ms")
_TYPES = ("int64", "string", "string", "string", "string", "int32")
_FIELDS = [
    {"type": type_, "optional": False, "field": name} for name, type_ in zip(_NAMES, _TYPES, strict=True)
]
_SCHEMA = json.dumps(
    {"type": "struct", "fields": _FIELDS, "optional": False, "name": "bench.Line"}, separators=(",", ":")
).encode()


def line(number: int) -> bytes:
    """Return a line of the data, without its end."""
    user, millis = number * 7919 % 1_000_000, 10_000 + number % 90_000
    return _LINE.format(number=100_000_000 + number, user=user, ms=millis).encode()


def in_envelopes(line: bytes) -> bytes:
    """Return a line as the payload of an envelope that has its schema."""
    return b'{"schema":%b,"payload":%b}' % (_SCHEMA, line)


def write_lines(path: Path, count: int) -> None:
    """Write the file of `count` lines unless it is there already."""
    if path.exists() and path.stat().st_size == count * (LINE_BYTES + 1):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out:
        for start in range(0, count, 10_000):
            out.writelines(line(number) + b"\n" for number in range(start, min(start + 10_000, count)))


class Topics:
    """Makes, fills, watches and removes the topics of a run; of one partition each, if not said otherwise."""

    def __init__(self, bootstrap: str) -> None:
        quiet: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap, "log_level": 2}
        self._admin = AdminClient(quiet)
        self._consumer = Consumer({**quiet, "group.id": "bench", "enable.auto.commit": False})
        self._producer = Producer(
            {**quiet, "linger.ms": 20, "batch.size": 1_000_000, "queue.buffering.max.messages": 1_000_000}
        )

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        self._admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
        wait(lambda: self._is_led(topic, partitions), 30, f"{topic} has no leader")

    def fill(self, topic: str, path: Path, change: Callable[[bytes], bytes] = bytes) -> None:
        """Produce every line of a file, changed if that is wanted."""
        with path.open("rb") as lines:
            while batch := lines.readlines(16_000_000):
                values = map(change, (line[:-1] for line in batch))
                self._producer.produce_batch(topic, [{"value": value} for value in values])
                self._producer.flush()

    def append(self, topic: str, values: Sequence[bytes], partition: int) -> None:
        """Produce values to a partition."""
        self._producer.produce_batch(topic, [{"value": value} for value in values], partition)
        self._producer.flush()

    def end(self, topic: str) -> int:
        """Return how many records the topic holds."""
        return int(self._consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1])

    def arrival_rate(self, topic: str, count: int, before: int = 0) -> float:
        """Return the records a second that reach a topic, from the first seen to the last of `count`.

        It had so many `before`.
        """
        started = wait(lambda: self.end(topic) > before, 90, "no record arrived", PACE)
        first = self.end(topic) - before
        ended = wait(lambda: self.end(topic) >= before + count, 300, "not all records arrived", PACE)
        return (count - first) / (ended - started)

    def wait_for(self, topic: str, count: int) -> None:
        """Wait until a topic holds so many records."""
        wait(lambda: self.end(topic) >= count, 300, f"{topic} does not get {count} records", PACE)

    def first(self, topic: str, count: int) -> list[bytes]:
        """Return the first values of a topic."""
        return self.values(topic, 0, count)

    def values(self, topic: str, begin: int, end: int) -> list[bytes]:
        """Return the values between two offsets of a topic."""
        if begin == end:
            return []
        self._consumer.assign([TopicPartition(topic, 0, begin)])
        messages = self._consumer.consume(end - begin, 30)
        self._consumer.unassign()
        return [message.value() or b"" for message in messages]

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self._admin.delete_topics([topic])[topic].result(30)

    def _is_led(self, topic: str, partitions: int) -> bool:
        """Return whether the broker answers for every partition of a new topic."""
        # Asked for anew each time: the client keeps a leader that refuses.
        if len(self._consumer.list_topics(topic, 10).topics[topic].partitions) != partitions:
            return False
        try:
            for number in range(partitions):
                self._consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=10)
        except KafkaException as error:
            if error.args[0].code() not in _NOT_YET_LED:
                raise
            return False
        return True


class GrowingTopic:
    """A topic whose records are numbered, and divided evenly among its partitions."""

    def __init__(
        self, topics: Topics, name: str, value: Callable[[int], bytes], partitions: int = CORES
    ) -> None:
        """Create it, without records; `value` makes that of a number."""
        self._topics, self._value, self._partitions = topics, value, partitions
        self.name = name
        self.count = 0
        """How many records it has."""
        topics.create(name, partitions)

    def grow(self, count: int) -> None:
        """Append so many records, a multiple of the number of partitions."""
        end = self.count + count
        while self.count < end:
            numbers = range(self.count, min(self.count + _GROWTH, end))
            for partition in range(self._partitions):
                values = [self._value(number) for number in numbers[partition :: self._partitions]]
                self._topics.append(self.name, values, partition)
            self.count = numbers.stop

    @property
    def ends(self) -> dict[int, int]:
        """Where each partition ends."""
        return dict.fromkeys(range(self._partitions), self.count // self._partitions)


class Samples:
    """Compares the samples of every run of a row with the first, each value as `meaning` reads it.

    A row compares like with like only if both systems wrote the same.
    """

    def __init__(self, meaning: Callable[[bytes], Hashable]) -> None:
        self._meaning = meaning
        self._expected: list[Hashable] = []

    def compare(self, values: Sequence[bytes]) -> None:
        """Add a sample.

        Raises:
            RuntimeError: It is too small, or not what the first one was.
        """
        meanings = [self._meaning(value) for value in values]
        if len(meanings) != SAMPLE:
            raise RuntimeError(f"a sample has {len(meanings)} values")
        self._expected = self._expected or meanings
        for found, expected in zip(meanings, self._expected, strict=True):
            if found != expected:
                raise RuntimeError(f"the systems wrote {found!r} and {expected!r}")


def map_entries(line: bytes) -> Hashable:
    """Read Java's text of a map, whose order means nothing."""
    return line[:1], frozenset(line[1:-1].split(b", ")), line[-1:]


def json_entries(value: bytes) -> Hashable:
    """Read a JSON object, whose order means nothing."""
    return frozenset(orjson.loads(value).items())
