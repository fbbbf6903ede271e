"""What a dead letter queue keeps of a record, and where the record came from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.sender import KafkaHeaders, OutgoingRecord


@dataclass(frozen=True, slots=True)
class Letter:
    """A record that failed, as bytes."""

    value: bytes | None
    """The value."""
    key: bytes | None
    """The key."""
    headers: KafkaHeaders
    """The headers it had."""
    timestamp: int | None
    """Milliseconds since the epoch, where it had one."""
    origin: tuple[tuple[str, str | None], ...]
    """Where it came from, by the names of context headers."""


LetterOf = Callable[[object], Letter]


class _Unwritten(Protocol):
    """What the producer gives back of a record it could not write."""

    def topic(self) -> str | None: ...
    def value(self) -> bytes | None: ...
    def key(self) -> bytes | None: ...
    def headers(self) -> list[tuple[str, bytes | None]] | None: ...


def letter_of_message(original: object) -> Letter:
    """Keep a message a sink read, as it was."""
    message: KafkaMessage = original  # type: ignore[assignment]  # sinks report messages only
    kind, stamp = message.timestamp()
    return Letter(
        message.value(),
        message.key(),
        list(message.headers() or ()),
        stamp if kind and stamp >= 0 else None,
        (
            ("topic", message.topic()),
            ("partition", str(message.partition())),
            ("offset", str(message.offset())),
        ),
    )


class SourceLetters:
    """Keeps records of a source: bytes where they were made, else JSON with the schema."""

    def __init__(self, encode: Callable[[str, Schema | None, object], bytes | None]) -> None:
        """`encode` gives a value as JSON."""
        self._encode = encode

    def __call__(self, original: object) -> Letter:
        """Keep a record that failed on its way to Kafka."""
        if isinstance(original, SourceRecord):
            return self._of_record(original)
        if isinstance(original, OutgoingRecord):
            origin = (("topic", original.topic),)
            return Letter(original.value, original.key, original.headers, original.timestamp, origin)
        unwritten: _Unwritten = original  # type: ignore[assignment]  # a producer reports nothing else
        headers = list(unwritten.headers() or ())
        return Letter(unwritten.value(), unwritten.key(), headers, None, (("topic", unwritten.topic()),))

    def _of_record(self, record: SourceRecord) -> Letter:
        origin = (
            ("topic", record.topic),
            ("source.partition", json.dumps(record.source_partition, default=str)),
            ("source.offset", json.dumps(record.source_offset, default=str)),
        )
        value = self._bytes(record.topic, record.value_schema, record.value)
        key = self._bytes(record.topic, record.key_schema, record.key)
        return Letter(value, key, (), record.timestamp, origin)

    def _bytes(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        if value is None:
            return None
        try:
            return self._encode(topic, schema, value)
        except BaseException:
            # JSON may fail for the very reason the record failed: what Python shows is better than nothing.
            return repr(value).encode()
