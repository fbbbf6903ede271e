"""Topics as a read_committed consumer sees them: how fast a file is committed, and whether all of it."""

from __future__ import annotations

import hashlib
import itertools
import time
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition
from copycat_testkit.eventually import wait

from tools.bench.load import Topics
from tools.bench.record_paths import file_source
from tools.bench.rest import Rest

PACE: Final = 0.01
READ_SECONDS: Final = 120.0
#: Where a topic ends there may be the ends of transactions, which are no records.
TAIL: Final = 5
_runs = itertools.count()


class Committed:
    """Reads topics of one partition."""

    def __init__(self, bootstrap: str) -> None:
        shared = {
            "bootstrap.servers": bootstrap,
            "group.id": "bench-committed",
            "enable.auto.commit": False,
            "log_level": 2,
        }
        self._reader = Consumer(
            {
                **shared,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 2,
            }
        )
        self._all = Consumer({**shared, "isolation.level": "read_uncommitted"})

    def begun(self, topic: str) -> int:
        """Return how many records were written, committed or not."""
        return _end(self._all, topic)

    def ends_with(self, topic: str, count: int, last: bytes) -> bool:
        """Tell whether so many records and ends of transactions are committed, of which this is the last."""
        end = _end(self._reader, topic)
        return end >= count and self._values(topic, max(0, end - TAIL), end)[-1:] == [last]

    def digest(self, topic: str) -> tuple[int, str]:
        """Return how many records are committed, and a digest of their values in order."""
        digest, count = hashlib.sha256(), 0
        for value in self._values(topic, 0, _end(self._reader, topic)):
            digest.update(value + b"\n")
            count += 1
        return count, digest.hexdigest()

    def _values(self, topic: str, start: int, end: int) -> list[bytes]:
        self._reader.assign([TopicPartition(topic, 0, start)])
        values: list[bytes] = []
        deadline, reached = time.monotonic() + READ_SECONDS, start
        while reached < end and time.monotonic() < deadline:
            for message in self._reader.consume(10_000, 1.0):
                reached = (message.offset() or 0) + (message.error() is None)
                if message.error() is None:
                    values.append(message.value() or b"")
        self._reader.unassign()
        return values


def committed_file_to_topic(
    rest: Rest, topics: Topics, source: Path, count: int, delivery: dict[str, str], *, committed: Committed
) -> float:
    """Return the rate at which a file of `count` lines is committed to a new topic.

    Raises:
        RuntimeError: What a read_committed consumer is given is not the file, line by line.
    """
    name = f"bench-exactly-{next(_runs)}-{time.time_ns()}"
    last = _last_line(source)
    topics.create(name)
    rest.create(name, {**file_source(source, name), **delivery})
    started = wait(lambda: committed.begun(name) > 0, 60, "no record arrived", PACE)
    first = committed.begun(name)
    ended = wait(lambda: committed.ends_with(name, count, last), 300, "not all was committed", PACE)
    rest.delete(name)
    if (found := committed.digest(name)) != (expected := _digest(source)):
        message = f"{name} has {found[0]} committed records that are not the {expected[0]} lines of {source}"
        raise RuntimeError(message)
    topics.delete(name)
    return (count - first) / (ended - started)


def _end(consumer: Consumer, topic: str) -> int:
    return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1])


def _digest(source: Path) -> tuple[int, str]:
    digest, count = hashlib.sha256(), 0
    with source.open("rb") as lines:
        for line in lines:
            digest.update(line)
            count += 1
    return count, digest.hexdigest()


def _last_line(source: Path) -> bytes:
    with source.open("rb") as lines:
        length = len(lines.readline())
        lines.seek(-length, 2)
        return lines.read().rstrip(b"\n")
