"""MirrorMaker's internal records and its translation of offsets, against what its own classes answered.

The bytes, and `recorded/mirror_translation.txt`, come from a run of the Java classes of Kafka 4.3.1 with the
values below; a line there is whether history is dropped at the start, the syncs with an R where the topic was
read to its end, and questions with their answers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.errors import DataError
from copycat_mirror.records import Checkpoint, Heartbeat, OffsetSync
from copycat_mirror.syncs import OffsetTranslation

RECORDED = (Path(__file__).parent / "recorded" / "mirror_translation.txt").read_text().splitlines()
GOLDEN = [
    (
        Heartbeat("berlin", "paris", 1700000000123),
        "00066265726c696e00057061726973",
        "00000000018bcfe5687b",
    ),
    (
        Checkpoint("grüppe", "berlin.orders", 7, 1234567890123, 987, "meta"),
        "00076772c3bc707065000d6265726c696e2e6f726465727300000007",
        "00000000011f71fb04cb00000000000003db00046d657461",
    ),
    (
        OffsetSync("orders", 3, 5000000000, 42),
        "00066f726465727300000003",
        "000000012a05f200000000000000002a",
    ),
]


@pytest.mark.parametrize(("record", "key", "value"), GOLDEN, ids=lambda each: type(each).__name__)
def test_records_have_the_bytes_of_the_java_classes(
    record: Heartbeat | Checkpoint | OffsetSync, key: str, value: str
) -> None:
    assert (record.key().hex(), record.value().hex()) == (key, value)
    assert type(record).read(record.key(), record.value()) == record


@pytest.mark.parametrize(
    ("key", "value"),
    [(b"", b""), (b"\x00\x02a", b""), (b"\x00\x01a\x00\x01b", b"\x00\x01" + bytes(8)), (b"\xff\xff", b"")],
)
def test_what_is_no_record_is_refused(key: bytes, value: bytes) -> None:
    with pytest.raises(DataError):
        Heartbeat.read(key, value)


@pytest.mark.parametrize("line", RECORDED)
def test_offsets_are_translated_as_by_the_java_class(line: str) -> None:
    _, drops_history, syncs, questions = line.split()
    translation = OffsetTranslation()
    translation.keeps_history = drops_history == "false"
    for sync in filter(None, syncs.split(";")):
        if sync == "R":
            translation.ready = True
        else:
            upstream, downstream = map(int, sync.split(","))
            translation.add(OffsetSync("t", 0, upstream, downstream))
    for question in filter(None, questions.split(";")):
        offset, answer = question.split(",")
        found = translation.translate("t", 0, int(offset))
        assert (offset, "none" if found is None else str(found)) == (offset, answer)


def test_nothing_is_translated_before_all_syncs_were_read() -> None:
    translation = OffsetTranslation()
    translation.add(OffsetSync("t", 0, 5, 5))
    assert translation.translate("t", 0, 5) is None
    translation.ready = True
    assert translation.translate("t", 0, 5) == 5
    assert translation.translate("t", 1, 5) is None
