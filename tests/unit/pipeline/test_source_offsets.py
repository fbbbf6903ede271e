"""A source's offsets: how they are collected, when commits are due, and commits before records (K26-52)."""

from __future__ import annotations

import pytest
from copycat_connect.data import SourceRecord
from copycat_connect.errors import DataError
from copycat_executor.pipeline.source.source_offsets import SourceProgress, from_json, to_json
from copycat_executor.pipeline.task.control import Ending, Settlement
from copycat_executor.pipeline.task.stages import StaleTaskError
from copycat_executor.pipeline.task.timing import CommitSchedule

from tests.unit.pipeline.source_world import AtMostOnceWorld, Polled, lines, offset


def test_offsets_are_compact_json_in_the_order_given() -> None:
    assert to_json({"b": 1, "a": "ä", "n": None, "t": True}) == '{"b":1,"a":"ä","n":null,"t":true}'.encode()


@pytest.mark.parametrize("offset", [{"a": [1]}, {"a": {"b": 1}}, {1: "x"}, "text"])
def test_offsets_that_are_no_flat_maps_are_refused(offset: object) -> None:
    with pytest.raises(DataError):
        to_json(offset)  # type: ignore[arg-type]  # what author code may do


def test_a_stored_offset_comes_back() -> None:
    assert from_json(b'{"position":7}') == {"position": 7}
    assert from_json(None) is None


def test_only_the_newest_offset_of_a_partition_is_taken_and_only_once() -> None:
    progress = SourceProgress()
    progress.advance({"f": "a"}, {"p": 1})
    progress.advance({"f": "b"}, {"p": 5})
    progress.advance({"f": "a"}, {"p": 2})

    assert progress.take() == {b'{"f":"a"}': b'{"p":2}', b'{"f":"b"}': b'{"p":5}'}
    assert not progress
    assert progress.take() == {}


def test_a_partition_map_that_the_task_changes_later_does_no_harm() -> None:
    progress = SourceProgress()
    partition = {"f": "a"}
    progress.advance(partition, {"p": 1})
    partition["f"] = "b"
    progress.advance(partition, {"p": 2})

    assert set(progress.take()) == {b'{"f":"a"}', b'{"f":"b"}'}


def test_refused_offsets_come_again_unless_there_is_something_newer() -> None:
    progress = SourceProgress()
    progress.advance({"f": "a"}, {"p": 1})
    progress.advance({"f": "b"}, {"p": 1})
    refused = progress.take()
    progress.advance({"f": "a"}, {"p": 2})

    progress.restore(refused)

    assert progress.take() == {b'{"f":"a"}': b'{"p":2}', b'{"f":"b"}': b'{"p":1}'}


def test_records_without_a_partition_are_not_tracked() -> None:
    progress = SourceProgress()

    progress.advance(None, {"p": 1})

    assert not progress


def test_the_first_data_is_committed_soon() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.note_data(1.0)
    schedule.note_data(1.4)

    assert schedule.due_in(1.0) == 0.5
    assert schedule.due_in(1.5) == 0.0


def test_a_steady_stream_is_committed_at_the_interval() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.note_data(0.0)
    schedule.done(0.5)
    schedule.note_data(0.6)

    assert schedule.due_in(0.6) == 4.9


def test_data_after_a_rest_is_committed_soon() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.note_data(0.0)
    schedule.done(0.5)
    schedule.note_data(60.0)

    assert schedule.due_in(60.0) == 0.5


def test_without_data_a_commit_is_due_at_the_interval() -> None:
    assert CommitSchedule(5.0, now=0.0).due_in(2.0) == 3.0


def test_a_requested_commit_is_due_at_once_and_only_once() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.request()
    assert schedule.due_in(0.0) == 0.0

    schedule.done(0.0)

    assert schedule.due_in(0.0) == 5.0


@pytest.mark.row("K26-52")
def test_a_batch_is_sent_only_after_its_offset_is_committed() -> None:
    world = AtMostOnceWorld(lines(1, "a"), lines(2, "b"))
    sent: list[int] = []
    settle = world.control.settle

    def watched(settlement: Settlement) -> None:
        sent.append(len(world.sender.records))
        settle(settlement)

    world.control.settle = watched  # type: ignore[method-assign]  # to look when an offset is committed
    world.run()

    assert sent == [0, 1]
    assert world.link.sources == [offset(1), offset(2)]
    assert world.sender.values == [b"a", b"b"]


def test_every_source_partition_of_a_batch_is_committed_first() -> None:
    records = [SourceRecord({"f": name}, {"p": place}, "t", value=name) for place, name in enumerate("xyx")]
    world = AtMostOnceWorld(records)

    world.run()

    assert world.link.sources == [{b'{"f":"x"}': b'{"p":2}', b'{"f":"y"}': b'{"p":1}'}]
    assert world.sender.values == [b"x", b"y", b"x"]


def test_a_batch_whose_offset_belongs_to_a_newer_start_is_not_sent() -> None:
    world = AtMostOnceWorld(lines(1, "a"))
    world.link.control = None

    def stale() -> None:
        world.control.settle(Settlement(1, "stale", stale=True))

    world.control.on_wait = stale
    with pytest.raises(StaleTaskError):
        world.run()

    assert world.sender.values == []


def test_a_batch_whose_offset_is_refused_waits_until_it_is_committed() -> None:
    world = AtMostOnceWorld(lines(1, "a"))
    world.link.error = "away"
    waits = 0

    def heals() -> None:
        nonlocal waits
        waits += 1
        if world.link.error:
            assert world.sender.values == []
        world.link.error = "" if waits >= 2 else "away"

    world.control.on_wait = heals
    world.run()

    assert world.sender.values == [b"a"]
    assert world.link.sources[-1] == offset(1)


def test_a_batch_whose_offset_may_be_committed_is_dropped_with_the_executor() -> None:
    world = AtMostOnceWorld(lines(1, "a"))
    world.link.control = None

    def lost() -> None:
        world.control.stop(Ending.DROP)

    world.control.on_wait = lost
    world.run()

    assert world.sender.values == []


def test_a_task_told_to_end_still_sends_the_batch_whose_offset_it_commits() -> None:
    world = AtMostOnceWorld()

    def ends() -> Polled:
        world.control.stop()
        return lines(1, "a")

    world.task.script = [ends]
    world.run()

    assert world.sender.values == [b"a"]
    assert "flushed" in world.link.events


def test_a_commit_rests_on_what_the_task_was_told_and_then_on_its_own() -> None:
    def asks() -> Polled:
        assert world.task.context.offset({"f": "x"}) == {"p": 0}
        return lines(1, "a")

    def asks_again() -> Polled:
        world.link.stored = offset(7)  # type: ignore[assignment]  # another task's
        assert world.task.context.offset({"f": "x"}) == {"p": 7}
        return lines(2, "b")

    world = AtMostOnceWorld(asks, asks_again)
    world.link.stored = offset(0)  # type: ignore[assignment]  # nothing of it is None
    world.run()

    assert world.link.expected == [offset(0), offset(1)]


def test_a_commit_of_what_the_task_never_asked_for_rests_on_nothing_at_first() -> None:
    world = AtMostOnceWorld(lines(1, "a"), lines(2, "b"))

    world.run()

    assert world.link.expected == [{}, offset(1)]


def test_nothing_committed_is_expected_where_the_task_found_nothing() -> None:
    def asks() -> Polled:
        assert world.task.context.offset({"f": "x"}) is None
        return lines(1, "a")

    world = AtMostOnceWorld(asks)
    world.run()

    assert world.link.expected == [{b'{"f":"x"}': None}]
