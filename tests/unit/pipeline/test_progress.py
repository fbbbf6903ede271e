"""How source offsets are collected.

When offset commits are due.
"""

from __future__ import annotations

import pytest
from copycat_connect.errors import DataError
from copycat_executor.pipeline.source.source_offsets import SourceProgress, from_json, to_json
from copycat_executor.pipeline.task.timing import CommitSchedule


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
