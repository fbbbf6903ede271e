"""Rows of the log source, beside the peer's file source: the connector its users read logs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tools.bench.load import Topics
from tools.bench.moves import Moved
from tools.bench.rows import Row
from tools.bench.systems import Copycat, System
from tools.bench.throughput import file_to_topic


def log_measures(topics: Topics, source: Path, count: int) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Return the rows; both sides read `source`, a file of `count` lines."""

    def measure(system: System) -> Moved:
        ours = {"connector.class": "LogSource", "files": str(source)} if isinstance(system, Copycat) else {}
        return file_to_topic(system, topics, source, count, ours)

    yield (
        Row(
            "log-to-topic",
            "records/s",
            "143-byte JSON lines, one partition, String converter, default producer; Copycat's LogSource "
            "beside FileStreamSource",
        ),
        measure,
    )
