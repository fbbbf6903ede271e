"""Rows of the file connectors without conversion, the record path alone; beside kcat where that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tools.bench.kcat import Kcat
from tools.bench.load import LINE_BYTES, Topics
from tools.bench.moves import Moved
from tools.bench.rows import Row
from tools.bench.systems import System
from tools.bench.throughput import file_to_topic, topic_to_file

_TUNED: Final = {"linger.ms": "20", "batch.size": "1048576"}
_OVERRIDES: Final = {f"producer.override.{key}": value for key, value in _TUNED.items()}
_STRING: Final = "143-byte JSON lines, one partition, String converter"
_FOUR: Final = "bench-four"
_TASKS: Final = (1, 2, 4)
#: Rows that kcat does too.
_SOURCE, _SOURCE_TUNED, _SINK = "file-to-topic", "file-to-topic-tuned", "topic-to-file"


def file_measures(
    topics: Topics, source: Path, count: int, topic: str
) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Return the rows; `topic` holds the `count` lines of `source`."""
    yield (
        Row(_SOURCE, "records/s", f"{_STRING}, default producer"),
        lambda system: file_to_topic(system, topics, source, count, {}),
    )
    yield (
        Row(_SOURCE_TUNED, "records/s", f"{_STRING}, linger.ms=20, batch.size=1048576"),
        lambda system: file_to_topic(system, topics, source, count, _OVERRIDES),
    )
    yield (
        Row(_SINK, "records/s", f"{_STRING}, default consumer"),
        lambda system: topic_to_file(system, topic, count, {}),
    )

    @cache
    def filled() -> str:
        topics.create(_FOUR, partitions=max(_TASKS))
        topics.fill(_FOUR, source)
        return _FOUR

    def by_tasks(tasks: int) -> Callable[[System], Moved]:
        # Connect's tasks cut each other's lines, so nothing is read out of the file but its size.
        return lambda system: topic_to_file(
            system, filled(), count, {"tasks.max": str(tasks)}, length=LINE_BYTES + 1
        )

    for tasks in _TASKS:
        settings = f"143-byte JSON lines, four partitions, String converter, tasks.max={tasks}, one file"
        yield Row(f"topic-to-file-tasks-{tasks}", "records/s", settings), by_tasks(tasks)


def kcat_measures(kcat: Kcat, source: Path, count: int, topic: str) -> dict[str, Callable[[], Moved]]:
    """Return what kcat does in rows of `file_measures`, by their names."""
    return {
        _SOURCE: lambda: kcat.file_to_topic(source, count, {}),
        _SOURCE_TUNED: lambda: kcat.file_to_topic(source, count, _TUNED),
        _SINK: lambda: kcat.topic_to_file(topic, count, LINE_BYTES + 1),
    }
