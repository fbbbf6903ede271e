"""Rows that move records between files and topics: as they are, converted, transformed, and out of logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tools.bench.kcat import Kcat
from tools.bench.load import LINE_BYTES, Topics, in_envelopes
from tools.bench.processes import Moved
from tools.bench.record_paths import FILE_TO_TOPIC_JSON_2SMT, JSON_SCHEMAS, TOPIC_TO_FILE_JSON_4SMT
from tools.bench.rows import Row
from tools.bench.samples import Samples, json_entries, map_entries
from tools.bench.systems import Copycat, System
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


_ENVELOPES: Final = "bench-envelopes"
_LINES: Final = "143-byte JSON lines, one partition"


def json_measures(
    topics: Topics, source: Path, count: int, topic: str
) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Return the rows; `topic` holds the `count` lines of `source`."""
    mapped, structured, written = Samples(map_entries), Samples(bytes), Samples(json_entries)

    @cache
    def filled() -> str:
        topics.create(_ENVELOPES)
        topics.fill(_ENVELOPES, source, in_envelopes)
        return _ENVELOPES

    yield (
        Row(
            "topic-to-file-json-4smt",
            "records/s",
            f"{_LINES}, JsonConverter without schemas, InsertField, MaskField, ReplaceField, Cast",
        ),
        lambda system: topic_to_file(system, topic, count, TOPIC_TO_FILE_JSON_4SMT, samples=mapped),
    )
    yield (
        Row("topic-to-file-json-schemas", "records/s", f"{_LINES}, in envelopes, JsonConverter with schemas"),
        lambda system: topic_to_file(system, filled(), count, JSON_SCHEMAS, samples=structured),
    )
    yield (
        Row(
            "file-to-topic-json-2smt",
            "records/s",
            f"{_LINES}, HoistField, InsertField, JsonConverter without schemas, default producer",
        ),
        lambda system: file_to_topic(system, topics, source, count, FILE_TO_TOPIC_JSON_2SMT, samples=written),
    )


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
