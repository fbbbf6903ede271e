"""Which records of the offsets topic are read, and how."""

import logging

import pytest
from copycat_eventlog.log import Record
from copycat_offset.adapters.codec import OffsetCodec, key_of
from copycat_offset.domain.events import SourceOffsetCommitted, SourceOffsetForgotten


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
def test_a_key_kafka_connect_would_not_have_written_is_ignored_with_a_warning(
    key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert OffsetCodec().decode(Record(key, b"{}")) is None
    assert caplog.records


def test_key_order_and_number_format_of_a_partition_survive() -> None:
    partition = b'{"b":1.50,"a":1e3}'
    assert OffsetCodec().decode(Record(b'["c",%b]' % partition, b"{}")) == SourceOffsetCommitted(
        "c", partition, b"{}"
    )


def test_names_are_written_unescaped_but_for_what_json_needs() -> None:
    assert key_of('gr"öße\t', b"{}") == '["gr\\"öße\\t",{}]'.encode()


@pytest.mark.parametrize("value", [None, b"null", b"7", b"{", b"\xff", b"[]"])
def test_a_value_that_is_no_map_reads_as_no_offset(value: bytes | None) -> None:
    assert OffsetCodec().decode(Record(b'["c",null]', value)) == SourceOffsetForgotten("c", b"null")
