"""Which records of the offsets topic are read, and how."""

import pytest
from copycat_connect.cluster import source_offset_key
from copycat_eventlog.log import Record
from copycat_eventlog.unreadable import decode
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.domain.events import ChangeForgotten, SourceOffsetCommitted, SourceOffsetForgotten


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"x",
        b"[]",
        b'["a"]',
        b'["a",1]',
        b'["a",[]]',
        b'[1,{"a":1}]',
        b'["a",{"b":1},2]',
        b'["a", {"b":1}]',
        b'["\\u00e4",{"b":1}]',
        b'["a",{"b":}]',
        b'["a",{"b":1}',
        b"\xff",
    ],
)
def test_a_key_kafka_connect_would_not_have_written_is_passed_over(key: bytes) -> None:
    found = decode(OffsetCodec(), Record(key, b"{}"))
    assert (found.event, bool(found.why)) == (None, True)


def test_key_order_and_number_format_of_a_partition_survive() -> None:
    partition = b'{"b":1.50,"a":1e3}'
    assert OffsetCodec().decode(Record(b'["c",%b]' % partition, b"{}")) == SourceOffsetCommitted(
        "c", partition, b"{}"
    )


def test_names_are_written_unescaped_but_for_what_json_needs() -> None:
    assert source_offset_key('gr"öße\t', b"{}") == '["gr\\"öße\\t",{}]'.encode()


@pytest.mark.parametrize("value", [None, b"null", b"7", b"{", b"\xff", b"[]"])
def test_a_value_that_is_no_map_reads_as_no_offset(value: bytes | None) -> None:
    found = decode(OffsetCodec(), Record(b'["c",null]', value))
    assert found.event == SourceOffsetForgotten("c", b"null")


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"null",
        b"{",
        b"{}",
        b'{"changed_at":1,"group":"","source":[1],"sink":[]}',
        b'{"changed_at":1,"group":"","source":[],"sink":[{"topic":"t","partition":0,"before":"1"}]}',
    ],
)
def test_a_change_that_cannot_be_read_is_none(value: bytes | None) -> None:
    assert decode(OffsetCodec(), Record(b'["\\u0000undo:c",null]', value)).event == ChangeForgotten("c")
