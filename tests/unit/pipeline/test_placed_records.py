"""Batches with partition, timestamps, headers and records that the task wants to hear of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copycat_connect.data import SourceBatch
from copycat_connect.data.records import RecordMetadata
from copycat_executor.pipeline.records.chain import ChainStep
from copycat_executor.pipeline.records.sender import OutgoingRecord
from copycat_executor.pipeline.task.stages import ToleranceExceededError

from tests.unit.pipeline.test_source_path import Upper, World, batch

WRITTEN = [
    OutgoingRecord("t", b"a", b"k", (), 2, 11),
    OutgoingRecord("t", b"b", None, [("h", b"1"), ("h", None)], 2, 12),
    OutgoingRecord("t", b"c", b"", (), 2, None),
]


def placed(watched: Mapping[int, object] | None = None) -> SourceBatch:
    return batch(
        ["a", "b", "c"],
        keys=["k", None, ""],
        kafka_partition=2,
        timestamps=[11, 12, None],
        headers=[(), [("h", b"1"), ("h", None)], ()],
        watched=watched,
    )


def test_they_travel_as_columns() -> None:
    world = World()

    world.path.deliver(placed())

    assert (world.sender.records, world.sender.columns) == (WRITTEN, 1)
    assert world.offset() == b'{"p":3}'
    assert world.path.delivered == 3


def test_transformed_they_go_record_by_record_and_keep_what_they_have() -> None:
    world = World(ChainStep(Upper(), "Upper"))

    world.path.deliver(placed())

    assert world.sender.columns == 0
    expected = [(each.value or b"").upper() for each in WRITTEN]
    assert [each.value for each in world.sender.records] == expected
    assert [(each.partition, each.timestamp) for each in world.sender.records] == [
        (2, 11),
        (2, 12),
        (2, None),
    ]


@pytest.mark.parametrize("steps", [(), (ChainStep(Upper(), "Upper"),)])
def test_the_task_hears_of_watched_records_only_and_of_their_place(steps: tuple[ChainStep, ...]) -> None:
    heard: list[tuple[object, RecordMetadata | None]] = []
    world = World(*steps, commit_watched=lambda mark, metadata: heard.append((mark, metadata)))

    world.path.deliver(placed(watched={1: "second"}))
    assert heard == []
    world.sender.flush(0)
    world.written.report()

    assert [mark for mark, _ in heard] == ["second"]
    assert heard[0][1] is not None


def test_a_watched_record_that_is_dropped_has_no_place() -> None:
    heard: list[tuple[object, RecordMetadata | None]] = []
    world = World(ChainStep(Upper(), "Upper"), commit_watched=lambda *each: heard.append(each))

    world.path.deliver(batch(["drop", "kept"], kafka_partition=0, watched={0: "gone"}))
    world.written.report()

    assert heard == [("gone", None)]


def test_a_transaction_that_is_aborted_tells_of_nothing() -> None:
    heard: list[object] = []
    world = World(commit_watched=lambda mark, _: heard.append(mark))

    world.path.deliver(placed(watched={0: "first"}))
    world.sender.flush(0)
    world.written.forget()
    world.written.report()

    assert heard == []


def test_a_batch_with_a_timestamp_that_kafka_refuses_stops_at_its_record() -> None:
    world = World()

    with pytest.raises(ToleranceExceededError):
        world.path.deliver(batch(["a", "b"], timestamps=[5, -2]))

    assert world.sender.values == [b"a"]


@pytest.mark.parametrize("stamps", [[0, -1], [0, None]])
def test_the_epoch_and_no_timestamp_reach_the_producer(stamps: list[int | None]) -> None:
    world = World()

    world.path.deliver(batch(["a", "b"], timestamps=stamps))

    assert [each.timestamp for each in world.sender.records] == stamps
