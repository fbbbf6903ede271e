"""`make bench`: Copycat and Apache Kafka Connect in turn on one broker; a table, and build/bench.json."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import Progress

from tools.bench.connector_rows import (
    MIRROR_ROWS,
    OBJECT_ROWS,
    SPARK_ROWS,
    TABLE_ROWS,
    mirror_rows,
    object_rows,
    spark_rows,
    table_rows,
)
from tools.bench.exactly_once_rows import EXACTLY_ONCE_ROWS, exactly_once_rows
from tools.bench.jdbc_rows import JDBC_SINK_ROWS, JDBC_SOURCE_ROWS, jdbc_sink_rows, jdbc_source_rows
from tools.bench.record_rows import Kcat, file_measures, json_measures, kcat_measures, log_measures
from tools.bench.rest_rows import REST_ROWS, rest_rows
from tools.bench.resting_rows import FRESH_ROWS, fresh_rows, resting_measures
from tools.bench.rows import Figure, Row, Run, save, table
from tools.bench.spark_driver_rows import (
    SPARK_DRIVER_ROWS,
    SPARK_LATENCY_ROWS,
    spark_driver_rows,
    spark_latency_rows,
)
from tools.bench.spark_query_rows import SPARK_QUERY_ROWS, spark_query_rows
from tools.bench.spark_warm_rows import (
    SPARK_CPU_ROWS,
    SPARK_GROWTH_ROWS,
    spark_cpu_rows,
    spark_growth_rows,
)
from tools.bench.systems import Copycat, Peer, System, shipped_kafka
from tools.bench.takeover_rows import TAKEOVER_ROWS, takeover_rows
from tools.bench.topics import Topics, write_lines

OUT: Final = Path("build/bench.json")
#: Columns of the table where no terminal says how many there are.
WIDE: Final = 240
_TOPIC: Final = "bench-lines"
#: Rows that need brokers and systems of their own, by what measures them; these come first.
_APART: Final[Mapping[Sequence[str], Callable[[Run], Iterator[Row]]]] = {
    FRESH_ROWS: fresh_rows,
    REST_ROWS: rest_rows,
    TAKEOVER_ROWS: takeover_rows,
    EXACTLY_ONCE_ROWS: exactly_once_rows,
    JDBC_SOURCE_ROWS: jdbc_source_rows,
    JDBC_SINK_ROWS: jdbc_sink_rows,
    MIRROR_ROWS: mirror_rows,
    OBJECT_ROWS: object_rows,
    SPARK_ROWS: spark_rows,
    TABLE_ROWS: table_rows,
    SPARK_QUERY_ROWS: spark_query_rows,
    SPARK_CPU_ROWS: spark_cpu_rows,
    SPARK_DRIVER_ROWS: spark_driver_rows,
    SPARK_LATENCY_ROWS: spark_latency_rows,
    SPARK_GROWTH_ROWS: spark_growth_rows,
}


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
        names = set(filter(None, wanted.rows.split(",")))
        for row in _rows(Run(Path(name), names, wanted.pairs, wanted.records, progress)):
            rows.append(row)
            save(rows, OUT)
    console.print(table(rows))
    console.print(f"written to {OUT}")
    return 0


def _rows(run: Run) -> Iterator[Row]:
    for names, measure in _APART.items():
        if run.wants(*names):
            yield from (row for row in measure(run) if run.wants(row.name))
    if not run.names or run.names - {name for names in _APART for name in names}:
        yield from _side_by_side(run)


def _side_by_side(run: Run) -> Iterator[Row]:
    """Measure the rows that one broker and one pair of systems do for all."""
    source = run.folder / "lines.txt"
    write_lines(source, run.records)
    with ExitStack() as stack:
        broker = stack.enter_context(shipped_kafka(run.folder / "broker"))
        systems: dict[str, System] = {}
        for side, start in (("ours", Copycat), ("peer", Peer)):
            systems[side] = start(run.folder / side, broker.bootstrap)
            stack.callback(systems[side].stop)
        topics = Topics(broker.bootstrap)
        topics.create(_TOPIC)
        topics.fill(_TOPIC, source)
        limits = kcat_measures(Kcat(broker.bootstrap, topics), source, run.records, _TOPIC)
        for row, measure in _measures(topics, source, run):
            if run.wants(row.name):
                sides = {side: partial(measure, system) for side, system in systems.items()}
                limit = {"kcat": limits[row.name]} if row.name in limits else {}
                yield run.measure(row, {**sides, **limit})


def _measures(topics: Topics, source: Path, run: Run) -> Iterator[tuple[Row, Callable[[System], Figure]]]:
    yield from file_measures(topics, source, run.records, _TOPIC)
    yield from json_measures(topics, source, run.records, _TOPIC)
    yield from log_measures(topics, source, run.records)
    yield from resting_measures(topics, run.folder)


if __name__ == "__main__":
    sys.exit(main())
