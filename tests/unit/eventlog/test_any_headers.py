"""Batches of records, read as consumers of this process read them once a log was started."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatchBuilder, _DefaultRecordBatchBuilderPy
from copycat_eventlog.any_headers import read_any_headers

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)


class NotText(str):
    """A name that is written as it is in another client."""

    __slots__ = ()

    def encode(self, *_: object, **__: object) -> bytes:
        return b"\xff\xfe"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "MemoryRecords", fetcher.MemoryRecords)  # put back after the test
    read_any_headers()


def batch(
    codec: int, headers: list[tuple[str, bytes | None]], *, builder: Any = DefaultRecordBatchBuilder
) -> bytes:
    """Return three records, of which the second one has headers."""
    made = builder(2, codec, 0, -1, -1, -1, 100_000)
    for offset, (key, value) in enumerate(((b"a", b"1" * 500), (b"b", None), (None, b"3"))):
        made.append(offset, 1_000 + offset, key, value, headers if key == b"b" else [])
    return bytes(made.build())


def read(data: bytes) -> list[Any]:
    records, found = fetcher.MemoryRecords(data), []
    while records.has_next():
        found += list(records.next_batch())
    return found


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_name_that_is_not_text_costs_no_record(codec: int) -> None:
    bad = batch(codec, [(NotText("x"), b"v"), ("ö", None)], builder=_DefaultRecordBatchBuilderPy)
    good = batch(codec, [("x", b"v"), ("ö", None)])

    found = read(bad + good)

    assert [(each.offset, each.timestamp, each.key, each.value) for each in found[:3]] == [
        (each.offset, each.timestamp, each.key, each.value) for each in found[3:]
    ]
    assert found[1].headers == [("\ufffd\ufffd", b"v"), ("ö", None)]
    assert found[4].headers == [("x", b"v"), ("ö", None)]


def test_what_is_broken_stays_so() -> None:
    data = bytearray(batch(NONE, []))
    data[-1] += 2  # the count of the last record's headers

    with pytest.raises(CorruptRecordException):
        read(bytes(data))


def test_an_answer_that_ends_in_the_middle_of_a_batch_has_the_whole_ones() -> None:
    whole = batch(NONE, [])

    assert len(read(whole + whole[:-7])) == 3
