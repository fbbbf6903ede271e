"""Records, headers and batches."""

from __future__ import annotations

import pytest
from copycat_connect.data import (
    INT32_SCHEMA,
    STRING_SCHEMA,
    Header,
    Headers,
    SinkBatch,
    SinkRecord,
    SourceBatch,
    SourceRecord,
)
from copycat_connect.errors import DataError


def test_replacing_a_topic_leaves_the_rest_and_the_original() -> None:
    record = SinkRecord("t", 1, 5, "k", "v", headers=[Header("h", 1)])
    moved = record.replace(topic="u")
    assert (moved.topic, moved.offset, moved.key, moved.value) == ("u", 5, "k", "v")
    assert (moved.original_topic, record.topic) == ("t", "t")


def test_a_copy_has_headers_of_its_own() -> None:
    record = SourceRecord({}, {}, "t", "v", headers=[Header("h", 1)])
    record.replace(topic="u").headers.add("x", 2)
    assert len(record.headers) == 1


def test_a_record_without_headers_says_so_without_making_any() -> None:
    record = SourceRecord({}, {}, "t", "v")
    assert not record.has_headers
    record.headers.add("a", 1)
    assert record.has_headers


def test_an_attribute_that_records_do_not_have_cannot_be_replaced() -> None:
    with pytest.raises(AttributeError):
        SourceRecord({}, {}, "t", "v").replace(offset=1)


def test_headers_keep_their_order_and_names_may_repeat() -> None:
    headers = Headers().add("a", 1).add("b", 2).add("a", 3)
    assert [header.value for header in headers.all_with_name("a")] == [1, 3]
    last = headers.last_with_name("a")
    assert last is not None
    assert last.value == 3
    assert [header.key for header in headers.remove("a")] == ["b"]


def test_a_header_must_fit_its_schema() -> None:
    with pytest.raises(DataError, match="A null value requires an optional schema but was"):
        Headers().add("a", None, STRING_SCHEMA)
    with pytest.raises(DataError, match="The value x is not compatible with the schema"):
        Headers().add("a", "x", INT32_SCHEMA)


def test_a_source_batch_yields_records_with_text_and_their_own_offsets() -> None:
    batch = SourceBatch(
        "t",
        [b"a", b"\xc3\xa9"],
        value_schema=STRING_SCHEMA,
        source_partition={"f": "x"},
        source_offset={"p": 5},
        utf8=True,
        offsets=lambda: [{"p": 2}, {"p": 5}],
    )
    assert [(record.value, record.source_offset) for record in batch] == [("a", {"p": 2}), ("é", {"p": 5})]


def test_a_source_batch_without_single_offsets_gives_its_own_to_each_record() -> None:
    batch = SourceBatch("t", ["a", "b"], keys=["k", "l"], source_offset={"p": 2})
    assert [(record.key, record.source_offset) for record in batch] == [("k", {"p": 2}), ("l", {"p": 2})]


def test_the_records_of_a_batch_carry_its_timestamp() -> None:
    assert [record.timestamp for record in SourceBatch("t", ["a", "b"], timestamp=7)] == [7, 7]
    assert [record.timestamp for record in SourceBatch("t", ["a"])] == [None]


def test_a_sink_batch_makes_each_record_once_and_only_when_asked() -> None:
    made: list[int] = []

    def make(place: int) -> SinkRecord:
        made.append(place)
        return SinkRecord("t", 0, place, None, f"v{place}")

    batch = SinkBatch(["v0", "v1", "v2"], make)
    assert (len(batch), batch.values, made) == (3, ["v0", "v1", "v2"], [])
    assert batch[-1].offset == 2
    assert batch[2] is batch[2]
    assert [record.value for record in batch[:2]] == ["v0", "v1"]
    assert batch.topics == ["t", "t", "t"]
    assert batch.key_schemas == [None, None, None]
    assert sorted(made) == [0, 1, 2]


def test_columns_that_are_at_hand_need_no_record() -> None:
    def refuse(place: int) -> SinkRecord:
        raise AssertionError(place)

    schemas = [STRING_SCHEMA]
    batch = SinkBatch(["v"], refuse, keys=["k"], topics=["t"], value_schemas=schemas, key_schemas=schemas)
    assert (batch.keys, batch.topics, batch.value_schemas, batch.key_schemas) == (
        ["k"],
        ["t"],
        schemas,
        schemas,
    )


def test_where_records_were_read_is_known_whatever_became_of_them() -> None:
    record = SinkRecord("t", 1, 5, None, "v", timestamp=7)
    found = SinkBatch.of([record.replace(topic="u", kafka_partition=9, timestamp=8)]).positions
    assert (found.topics, found.partitions, found.offsets, found.timestamps) == (["t"], [1], [5], [8])


def test_a_sink_batch_ends_where_its_values_end() -> None:
    with pytest.raises(IndexError):
        SinkBatch.of([])[0]
