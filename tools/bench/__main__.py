"""`make bench`: Copycat and Apache Kafka Connect in turn on one broker; a table, and build/bench.json."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import Progress

from tools.bench.cluster_rows import REST_ROWS, TAKEOVER_ROWS, cluster_rows
from tools.bench.exactly_once_rows import EXACTLY_ONCE_ROWS, exactly_once_rows
from tools.bench.jdbc_sink_rows import JDBC_SINK_ROWS, jdbc_sink_rows
from tools.bench.jdbc_source_rows import JDBC_SOURCE_ROWS, jdbc_source_rows
from tools.bench.kcat import Kcat
from tools.bench.load import Topics, write_lines
from tools.bench.mirror_rows import MIRROR_ROWS, mirror_rows
from tools.bench.object_rows import OBJECT_ROWS, object_rows
from tools.bench.processes import Moved, memory_mb
from tools.bench.record_rows import file_measures, json_measures, kcat_measures, log_measures
from tools.bench.rest import Rest
from tools.bench.resting_rows import FRESH_ROWS, cores_with_waiting_tasks, fresh_rows
from tools.bench.rows import Row, save, table
from tools.bench.systems import Copycat, Peer, System, shipped_kafka

OUT = Path("build/bench.json")
#: Columns of the table where no terminal says how many there are.
WIDE = 240
IDLE_TASKS = (20, 100)
Measure = Callable[[System], float | Moved]
_TOPIC = "bench-lines"


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
        ensure_jars(("broker", "connect", "mirror"))
        for row in _rows(Path(name), wanted, progress):
            rows.append(row)
            save(rows, OUT)
    console.print(table(rows))
    console.print(f"written to {OUT}")
    return 0


def _rows(folder: Path, wanted: argparse.Namespace, progress: Progress) -> Iterator[Row]:
    names = set(filter(None, wanted.rows.split(",")))
    yield from fresh_rows(folder, names, wanted.pairs, progress)
    yield from cluster_rows(folder, names, wanted.pairs, progress)
    yield from exactly_once_rows(folder, names, wanted.pairs, wanted.records, progress)
    yield from jdbc_source_rows(folder, names, wanted.pairs, wanted.records, progress)
    yield from jdbc_sink_rows(folder, names, wanted.pairs, wanted.records, progress)
    yield from mirror_rows(folder, names, wanted.pairs, wanted.records, progress)
    yield from object_rows(folder, names, wanted.pairs, wanted.records, progress)
    jdbc = {*JDBC_SOURCE_ROWS, *JDBC_SINK_ROWS}
    own = {*REST_ROWS, *TAKEOVER_ROWS, *EXACTLY_ONCE_ROWS, *jdbc, *MIRROR_ROWS, *OBJECT_ROWS}
    if names and names <= {*FRESH_ROWS, *own}:
        return
    source = folder / "lines.txt"
    write_lines(source, wanted.records)
    with shipped_kafka(folder / "broker") as broker, _systems(folder, broker.bootstrap) as systems:
        topics = Topics(broker.bootstrap)
        topics.create(_TOPIC)
        topics.fill(_TOPIC, source)
        kcat = kcat_measures(Kcat(broker.bootstrap, topics), source, wanted.records, _TOPIC)
        for row, measure in _measures(topics, source, wanted.records, folder):
            if not names or row.name in names:
                yield _in_turn(row, measure, systems, wanted.pairs, progress, limit=kcat.get(row.name))


def _measures(topics: Topics, source: Path, count: int, folder: Path) -> Iterator[tuple[Row, Measure]]:
    yield from file_measures(topics, source, count, _TOPIC)
    yield from json_measures(topics, source, count, _TOPIC)
    yield from log_measures(topics, source, count)
    for tasks in IDLE_TASKS:
        yield (
            Row(
                f"idle-{tasks}-tasks", "cores", "half paused, a quarter sources, a quarter sinks, after 15 s"
            ),
            partial(_idle, topics=topics, folder=folder, tasks=tasks),
        )
    yield Row("memory", "MB", "proportional resident, all but the broker, after the rows above"), _memory


def _idle(system: System, *, topics: Topics, folder: Path, tasks: int) -> float:
    return cores_with_waiting_tasks(Rest(system.url), topics, system.pid, folder, tasks)


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
    row: Row,
    measure: Measure,
    systems: tuple[System, System],
    pairs: int,
    progress: Progress,
    *,
    limit: Callable[[], Moved] | None,
) -> Row:
    """Measure ours, the peer and the limit again and again; a first round warms them and does not count."""
    ours, peer = systems
    warm = row.unit == "records/s"
    task = progress.add_task(row.name, total=pairs + warm)
    for pair in range(pairs + warm):
        figures = {"ours": measure(ours), "peer": measure(peer)}
        if limit is not None:
            figures["kcat"] = limit()
        if pair or not warm:
            for side, figure in figures.items():
                row.note(side, figure)
        progress.advance(task)
    return row


if __name__ == "__main__":
    sys.exit(main())
