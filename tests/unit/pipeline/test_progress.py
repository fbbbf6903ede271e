"""How source offsets are collected."""

import pytest
from copycat_connect.errors import DataError
from copycat_executor.pipeline.source.progress import SourceProgress, from_json, to_json


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
