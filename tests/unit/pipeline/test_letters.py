"""What a dead letter queue keeps of a source's records."""

from __future__ import annotations

from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema
from copycat_connect.errors import DataError
from copycat_executor.pipeline.records.letters import SourceLetters
from copycat_executor.pipeline.records.sender import OutgoingRecord


def as_text(topic: str, schema: Schema | None, value: object) -> bytes | None:
    if not isinstance(value, str):
        raise DataError("not a text")
    return f"{topic}:{value}".encode()


LETTERS = SourceLetters(as_text)


def test_a_record_that_was_never_encoded_is_encoded_with_its_origin() -> None:
    letter = LETTERS(SourceRecord({"f": 1}, {"p": 2}, "t", "v", key="k", timestamp=5))

    assert (letter.value, letter.key, letter.timestamp) == (b"t:v", b"t:k", 5)
    assert letter.origin == (("topic", "t"), ("source.partition", '{"f": 1}'), ("source.offset", '{"p": 2}'))


def test_what_cannot_be_encoded_is_shown() -> None:
    assert LETTERS(SourceRecord({}, {}, "t", {1, 2})).value == b"{1, 2}"


def test_bytes_that_were_made_are_kept() -> None:
    letter = LETTERS(OutgoingRecord("t", b"v", b"k", [("h", b"1")], timestamp=7))

    assert (letter.value, letter.key, letter.headers, letter.timestamp) == (b"v", b"k", [("h", b"1")], 7)
    assert letter.origin == (("topic", "t"),)
