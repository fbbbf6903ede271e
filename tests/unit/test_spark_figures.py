"""What the rows of the benchmark on Spark compare with: sums of windows, positions of queries, batches."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from tools.bench.spark_peer import ends_of
from tools.bench.spark_query_rows import is_settled, positions_of, rows_given, sums_of, timed_line
from tools.bench.systems import on_cores
from tools.bench.topics import GrowingTopic, Topics, line

WINDOW = 200_000


def test_the_sums_of_a_window_are_those_of_its_records() -> None:
    counts, totals, starts = Counter[str](), defaultdict[str, int](int), set[int]()
    for number in range(WINDOW, 2 * WINDOW):
        record = orjson.loads(timed_line(number))
        counts[record["user"]] += 1
        totals[record["user"]] += record["ms"]
        starts.add(record["at"] // 10_000 * 10_000)

    [start] = starts
    assert list(sums_of(1)) == [(start, user, counts[user], totals[user]) for user in sorted(counts)]


@pytest.mark.parametrize(
    ("records", "windows"), [(0, 0), (2 * WINDOW, 0), (2 * WINDOW + 1, 1), (2_000_000, 8)]
)
def test_a_window_is_given_when_a_record_is_a_window_past_its_end(records: int, windows: int) -> None:
    assert rows_given(records) == windows * 10_000


@pytest.mark.parametrize(
    ("partition", "offset", "positions"),
    [
        ({"topic": "bench", "partition": 1}, {"offset": 7}, {"bench-1": 7}),
        (
            {"query": "bench"},
            {"epoch": "e", "batch": 3, "bench-0": 5, "bench-1": 6},
            {"bench-0": 5, "bench-1": 6},
        ),
        ({"query": "bench", "slot": 1}, {"epoch": "e", "batch": 3}, {}),
    ],
)
def test_offsets_say_how_far_a_query_has_come(
    partition: dict[str, object], offset: dict[str, object], positions: dict[str, int]
) -> None:
    value = orjson.dumps(offset)
    assert positions_of("bench", orjson.dumps(["bench", partition]), value) == positions
    assert positions_of("bench", orjson.dumps(["other", partition]), value) == {}
    assert positions_of("bench", orjson.dumps(["bench", partition]), None) == {}


def test_a_batch_ends_when_its_trigger_does_and_counts_if_it_read_something() -> None:
    begun = {"timestamp": "1970-01-01T00:00:10.500Z", "durationMs": {"triggerExecution": 1500}}
    assert list(ends_of([{**begun, "numInputRows": 8}, {**begun, "numInputRows": 0}])) == [(12.0, 8)]


def test_a_query_is_settled_when_the_end_of_its_newest_batch_is_noted(tmp_path: Path) -> None:
    for log in ("offsets", "commits"):
        (tmp_path / "bench" / "epoch" / log).mkdir(parents=True)
    assert is_settled(tmp_path)
    for file, settled in (("offsets/9", False), ("commits/9", True), ("offsets/10", False)):
        (tmp_path / "bench" / "epoch" / file).touch()
        assert is_settled(tmp_path) is settled


class _Appended(Topics):
    """Topics that remember what is appended, without a broker."""

    def __init__(self) -> None:
        self.kept = defaultdict[int, list[bytes]](list)

    def create(self, topic: str, partitions: int = 1) -> None:
        del topic, partitions

    def append(self, topic: str, values: Sequence[bytes], partition: int) -> None:
        del topic
        self.kept[partition] += values


def test_a_topic_grows_by_the_next_numbers_in_each_partition() -> None:
    appended = _Appended()
    topic = GrowingTopic(appended, "bench", line, partitions=2)

    topic.grow(4)
    topic.grow(2)

    assert appended.kept == {0: [line(0), line(2), line(4)], 1: [line(1), line(3), line(5)]}
    assert (topic.count, topic.ends) == (6, {0: 3, 1: 3})


def test_what_starts_meanwhile_has_so_many_cores_and_others_have_all() -> None:
    before = os.sched_getaffinity(0)
    with on_cores(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
