"""Rows that convert and transform every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tools.bench.load import Topics, in_envelopes
from tools.bench.moves import Moved
from tools.bench.record_paths import FILE_TO_TOPIC_JSON_2SMT, JSON_SCHEMAS, TOPIC_TO_FILE_JSON_4SMT
from tools.bench.rows import Row
from tools.bench.samples import Samples, json_entries, map_entries
from tools.bench.systems import System
from tools.bench.throughput import file_to_topic, topic_to_file

ENVELOPES: Final = "bench-envelopes"
_LINES: Final = "143-byte JSON lines, one partition"


def json_measures(
    topics: Topics, source: Path, count: int, topic: str
) -> Iterator[tuple[Row, Callable[[System], Moved]]]:
    """Return the rows; `topic` holds the `count` lines of `source`."""
    mapped, structured, written = Samples(map_entries), Samples(bytes), Samples(json_entries)

    @cache
    def filled() -> str:
        topics.create(ENVELOPES)
        topics.fill(ENVELOPES, source, in_envelopes)
        return ENVELOPES

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
