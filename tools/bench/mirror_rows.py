"""Rows of mirrors: two brokers, and MirrorMaker 2 in Apache Kafka Connect beside Copycat on the second."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from copycat_testkit.eventually import wait
from rich.progress import Progress

from tools.bench.load import Topics, write_lines
from tools.bench.rest import Rest
from tools.bench.rows import Row
from tools.bench.samples import SAMPLE
from tools.bench.systems import Copycat, Peer, System, shipped_kafka

PACE: Final = 0.01
_TOPIC: Final = "lines"
_TUNED: Final = {
    "producer.override.linger.ms": "20",
    "producer.override.batch.size": "1048576",
    "source.consumer.max.poll.records": "5000",
}
_SETTINGS: Final = "143-byte values in one partition, no keys, ByteArrayConverter, offset syncs"
_ROWS: Final = {
    "mirror": (f"{_SETTINGS}, default clients", dict[str, str]()),
    "mirror-tuned": (f"{_SETTINGS}, linger.ms=20, batch.size=1048576, max.poll.records=5000", _TUNED),
}
MIRROR_ROWS: Final = (*_ROWS,)
_runs = itertools.count()


def mirror_rows(folder: Path, names: Set[str], pairs: int, records: int, progress: Progress) -> Iterator[Row]:
    """Measure the rows of those names, all of them without names."""
    wanted = {name: row for name, row in _ROWS.items() if not names or name in names}
    if not wanted:
        return
    lines = folder / "lines.txt"
    write_lines(lines, records)
    with ExitStack() as stack:
        source = stack.enter_context(shipped_kafka(folder / "mirror-source"))
        target = stack.enter_context(shipped_kafka(folder / "mirror-target"))
        ours = Copycat(folder / "mirror-copycat", target.bootstrap)
        stack.callback(ours.stop)
        peer = Peer(folder / "mirror-connect", target.bootstrap, jars=("mirror",))
        stack.callback(peer.stop)
        there, here = Topics(source.bootstrap), Topics(target.bootstrap)
        there.create(_TOPIC)
        there.fill(_TOPIC, lines)
        sample = there.first(_TOPIC, SAMPLE)
        clusters = {
            "source.cluster.bootstrap.servers": source.bootstrap,
            "target.cluster.bootstrap.servers": target.bootstrap,
        }
        for name, (settings, more) in wanted.items():
            row = Row(name, "records/s", settings)
            task = progress.add_task(name, total=pairs + 1)
            for pair in range(pairs + 1):  # a first pair warms both and does not count
                figures = [
                    _rate(system, here, records, {**clusters, **more}, sample) for system in (ours, peer)
                ]
                if pair:
                    row.ours.append(figures[0])
                    row.peer.append(figures[1])
                progress.advance(task)
            yield row


def _rate(system: System, target: Topics, count: int, settings: dict[str, str], sample: list[bytes]) -> float:
    """Return the rate at which the topic reaches the target, from the first record there to the last."""
    alias, rest = f"run-{next(_runs)}-{time.time_ns()}", Rest(system.url)
    topic = f"{alias}.{_TOPIC}"
    converters = {
        f"{each}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"
        for each in ("key", "value", "header")
    }
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": alias,
        "target.cluster.alias": f"target-{alias}",
        "topics": _TOPIC,
        "tasks.max": "1",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        **converters,
        **settings,
    }
    target.create(topic)
    rest.create(alias, config)
    started = wait(lambda: target.end(topic) > 0, 90, "no record arrived", PACE)
    first = target.end(topic)
    ended = wait(lambda: target.end(topic) >= count, 300, "not all records arrived", PACE)
    rest.delete(alias)
    if target.first(topic, SAMPLE) != sample:
        message = f"{topic} has other records than its source"
        raise RuntimeError(message)
    target.delete(topic)
    return (count - first) / (ended - started)
