"""Rows of exactly-once sources, which want workers of their own: Kafka Connect's are switched as a whole."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition
from copycat_testkit.eventually import wait

from tools.bench.rows import RECORDS_PER_SECOND, Row, Run
from tools.bench.systems import Copycat, CopycatFleet, Peer, Rest, file_source, shipped_kafka
from tools.bench.takeover_rows import takeover
from tools.bench.topics import PACE, Topics, write_lines

_POLL: Final = {"exactly.once.support": "required", "transaction.boundary": "poll"}
_INTERVAL: Final = {
    "exactly.once.support": "required",
    "transaction.boundary": "interval",
    "transaction.boundary.interval.ms": "1000",
}
_AT_LEAST_ONCE: Final = {"delivery.guarantee": "at_least_once"}
_WORKER: Final = {"exactly.once.source.support": "enabled"}
_LINES: Final = "143-byte JSON lines, one partition, String converter, default producer"
_SPEED: Final = {
    "file-to-topic-exactly-once": f"{_LINES}, transaction.boundary=poll; until all is committed",
    "file-to-topic-exactly-once-interval": f"{_LINES}, transaction.boundary=interval, 1000 ms; likewise",
    "exactly-once-to-at-least-once": f"{_LINES}; Copycat with interval 1000 ms, beside it at least once",
}
_CRASH: Final = "crash-to-flow-exactly-once"
_LOSS: Final = (
    "SIGKILL of one of 3 workers, 6 file sources with 20 lines/s, until all deliver; Copycat exactly once "
    "beside Copycat at least once"
)
EXACTLY_ONCE_ROWS: Final = (*_SPEED, _CRASH)
_READ_SECONDS: Final = 120.0
#: Where a topic ends there may be the ends of transactions, which are no records.
_TAIL: Final = 5
_runs = itertools.count()


def exactly_once_rows(run: Run) -> Iterator[Row]:
    """Measure the speed of exactly-once sources, and how soon they flow again after a crash."""
    if run.wants(*_SPEED):
        yield from _speed_rows(run)
    if run.wants(_CRASH):
        yield _crash_row(run)


def _speed_rows(run: Run) -> Iterator[Row]:
    folder = run.folder / "exactly-once"
    source = folder / "lines.txt"
    write_lines(source, run.records)
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(folder / "broker"))
        ours = Copycat(folder / "copycat", broker.bootstrap, _WORKER)
        stack.callback(ours.stop)
        peer = Peer(folder / "connect", broker.bootstrap, _WORKER)
        stack.callback(peer.stop)
        topics, committed = Topics(broker.bootstrap), _CommittedTopics(broker.bootstrap)

        def rate(url: str, delivery: Mapping[str, str]) -> Callable[[], float]:
            return partial(_rate, Rest(url), topics, source, delivery, committed=committed, count=run.records)

        sides = {
            "file-to-topic-exactly-once": (rate(ours.url, _POLL), rate(peer.url, _POLL)),
            "file-to-topic-exactly-once-interval": (rate(ours.url, _INTERVAL), rate(peer.url, _INTERVAL)),
            "exactly-once-to-at-least-once": (rate(ours.url, _INTERVAL), rate(ours.url, _AT_LEAST_ONCE)),
        }
        for name, settings in _SPEED.items():
            if run.wants(name):
                first, second = sides[name]
                yield run.measure(Row(name, RECORDS_PER_SECOND, settings), {"ours": first, "peer": second})


def _crash_row(run: Run) -> Row:
    folder = run.folder / "crash"
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(folder / "broker"))
        fleet = CopycatFleet(folder / "copycat", broker.bootstrap, 3)
        stack.callback(fleet.stop)

        def until_flow(delivery: Mapping[str, str]) -> Callable[[], float]:
            return lambda: takeover(fleet, broker.bootstrap, folder, delivery)[0]

        return run.measure(
            Row(_CRASH, "s", _LOSS), {"ours": until_flow(_POLL), "peer": until_flow(_AT_LEAST_ONCE)}
        )


def _rate(
    rest: Rest,
    topics: Topics,
    source: Path,
    delivery: Mapping[str, str],
    *,
    committed: _CommittedTopics,
    count: int,
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
        raise RuntimeError(
            f"{name} has {found[0]} committed records that are not the {expected[0]} lines of {source}"
        )
    topics.delete(name)
    return (count - first) / (ended - started)


class _CommittedTopics:
    """Reads topics of one partition as a read_committed consumer sees them."""

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
        """Say whether so many records and ends of transactions are committed, of which this is the last."""
        end = _end(self._reader, topic)
        return end >= count and self._values(topic, max(0, end - _TAIL), end)[-1:] == [last]

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
        deadline, reached = time.monotonic() + _READ_SECONDS, start
        while reached < end and time.monotonic() < deadline:
            for message in self._reader.consume(10_000, 1.0):
                reached = (message.offset() or 0) + (message.error() is None)
                if message.error() is None:
                    values.append(message.value() or b"")
        self._reader.unassign()
        return values


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
