"""`make bench`: Copycat and Apache Kafka Connect in turn on one broker; a table, and build/bench.json."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import Progress

from tools.bench.cluster_rows import REST_ROWS, TAKEOVER_ROWS, cluster_rows
from tools.bench.idle import cores_with_waiting_tasks
from tools.bench.json_rows import json_measures
from tools.bench.load import Topics, write_lines
from tools.bench.processes import memory_mb
from tools.bench.rest import Rest
from tools.bench.rows import Row, save, table
from tools.bench.systems import Copycat, Peer, System
from tools.bench.throughput import file_to_topic, topic_to_file

OUT = Path("build/bench.json")
#: Columns of the table where no terminal says how many there are.
WIDE = 180
TUNED = {"producer.override.linger.ms": "20", "producer.override.batch.size": "1048576"}
STRING = "143-byte JSON lines, one partition, String converter"
Measure = Callable[[System], float]


def main() -> int:
    """Run the rows asked for."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--pairs", type=int, default=3, help="how often each row is measured on each side (3)"
    )
    parser.add_argument(
        "--records", type=int, default=2_000_000, help="records a throughput figure moves (2,000,000)"
    )
    parser.add_argument("--rows", default="", help="comma-separated names; all when left out")
    wanted = parser.parse_args()
    console, rows = Console(), []
    if not console.is_terminal:
        console = Console(width=WIDE)
    with tempfile.TemporaryDirectory(prefix="copycat-bench-") as name, Progress(console=console) as progress:
        ensure_jars(("broker", "connect"))
        for row in _rows(Path(name), wanted, progress):
            rows.append(row)
            save(rows, OUT)
    console.print(table(rows))
    console.print(f"written to {OUT}")
    return 0


def _rows(folder: Path, wanted: argparse.Namespace, progress: Progress) -> Iterator[Row]:
    names = set(filter(None, wanted.rows.split(",")))
    if not names or "ready-time" in names:
        yield _ready_time(folder, wanted.pairs, progress)
    yield from cluster_rows(folder, names, wanted.pairs, progress)
    if names and names <= {"ready-time", *REST_ROWS, *TAKEOVER_ROWS}:
        return
    source = folder / "lines.txt"
    write_lines(source, wanted.records)
    with EmbeddedKafka(folder / "broker") as broker, _systems(folder, broker.bootstrap) as systems:
        topics = Topics(broker.bootstrap)
        topics.create("bench-lines")
        topics.fill("bench-lines", source)
        for row, measure in _measures(topics, source, wanted.records, folder):
            if not names or row.name in names:
                yield _in_turn(row, measure, systems, wanted.pairs, progress)


def _measures(topics: Topics, source: Path, count: int, folder: Path) -> Iterator[tuple[Row, Measure]]:
    yield (
        Row("file-to-topic", "records/s", f"{STRING}, default producer"),
        lambda system: file_to_topic(Rest(system.url), topics, source, count, {}),
    )
    yield (
        Row("file-to-topic-tuned", "records/s", f"{STRING}, linger.ms=20, batch.size=1048576"),
        lambda system: file_to_topic(Rest(system.url), topics, source, count, TUNED),
    )
    yield (
        Row("topic-to-file", "records/s", f"{STRING}, default consumer"),
        lambda system: topic_to_file(Rest(system.url), "bench-lines", count, {}),
    )
    yield from json_measures(topics, source, count, "bench-lines")
    yield (
        Row("idle-20-tasks", "cores", "10 paused, 5 sources and 5 sinks with nothing to do, after 15 s"),
        lambda system: cores_with_waiting_tasks(Rest(system.url), topics, system.pid, folder),
    )
    yield Row("memory", "MB", "proportional resident, all but the broker, after the rows above"), _memory


def _memory(system: System) -> float:
    return memory_mb(system.pid)


@contextmanager
def _systems(folder: Path, bootstrap: str) -> Iterator[tuple[System, System]]:
    ours, peer = Copycat(folder / "copycat", bootstrap), Peer(folder / "connect", bootstrap)
    try:
        yield ours, peer
    finally:
        ours.stop()
        peer.stop()


def _in_turn(
    row: Row, measure: Measure, systems: tuple[System, System], pairs: int, progress: Progress
) -> Row:
    """Measure ours, then the peer, again and again; a first pair warms both and does not count."""
    ours, peer = systems
    warm = row.unit == "records/s"
    task = progress.add_task(row.name, total=pairs + warm)
    for pair in range(pairs + warm):
        figures = measure(ours), measure(peer)
        if pair or not warm:
            row.ours.append(figures[0])
            row.peer.append(figures[1])
        progress.advance(task)
    return row


def _ready_time(folder: Path, pairs: int, progress: Progress) -> Row:
    row = Row("ready-time", "s", "from nothing: an embedded broker and one worker, fresh data directory")
    task = progress.add_task(row.name, total=pairs)
    for pair in range(pairs):
        ours = Copycat(folder / f"ready-{pair}", None)
        ours.stop()
        row.ours.append(ours.ready_seconds)
        began = time.monotonic()
        with EmbeddedKafka(folder / f"ready-broker-{pair}") as broker:
            peer = Peer(folder / f"ready-connect-{pair}", broker.bootstrap)
            row.peer.append(time.monotonic() - began)
            peer.stop()
        progress.advance(task)
    return row


if __name__ == "__main__":
    sys.exit(main())
