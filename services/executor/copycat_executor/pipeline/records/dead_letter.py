"""The dead letter queue of a task: failed records as they were, with where and why they failed."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, Protocol

from copycat_connect.data.records import RecordMetadata, SourceRecord, UnreadableRecord
from copycat_connect.data.schema import Schema
from copycat_connect.error_text import bounded, text_of, writable
from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.sender import NO_TIMESTAMP, KafkaHeaders, OutgoingRecord, RecordSender
from copycat_executor.pipeline.records.tolerate import FailedRecord
from copycat_executor.pipeline.records.trace import class_name, trace_text
from copycat_executor.pipeline.task.measures import Measures

_log = logging.getLogger(__name__)

_HEADER_PREFIX: Final = "__connect.errors."
#: A flush looks this often whether its time is over.
_FLUSH_CHECK_SECONDS: Final = 0.15
#: Timestamps have 64 bits.
_BEYOND_KAFKA: Final = 2**63


class DeadLetterQueue:
    """Writes failed records to a topic; nothing about them is committed before they are durable there."""

    def __init__(
        self,
        sender: RecordSender,
        topic: str,
        connector: str,
        task: int,
        *,
        letter_of: LetterOf,
        context_headers: bool,
        measures: Measures,
        scrub: Callable[[str], str] = str,
    ) -> None:
        """`letter_of` says what to keep of a record; `scrub` takes secrets out of the context headers."""
        self._letter_of = letter_of
        self._sender = sender
        self._topic = topic
        self._connector = connector
        self._task = task
        self._context_headers = context_headers
        self._measures = measures
        self._scrub = scrub

    def report(self, failed: FailedRecord) -> None:
        """Queue a failed record; a failure to write it is logged."""
        self.send(failed)

    def send(self, failed: FailedRecord) -> Future[None]:
        """Queue a failed record; the future is done when it is durable."""
        self._measures.note("deadletterqueue-produce-requests")
        letter = self._letter_of(failed.original)
        headers = list(letter.headers)
        if self._context_headers:
            headers += self._context(failed, letter)
        record = OutgoingRecord(self._topic, letter.value, letter.key, headers, timestamp=letter.timestamp)
        written: Future[None] = Future()
        written.set_running_or_notify_cancel()  # whoever waits for it cannot cancel it

        def done(_: RecordMetadata | None, error: Exception | None) -> None:
            if error is None:
                written.set_result(None)
            else:
                self._measures.note("deadletterqueue-produce-failures")
                _log.error("Could not produce message to dead letter queue. topic=%s: %s", self._topic, error)
                wrapped = ConnectError(f"Could not produce message to dead letter queue. topic={self._topic}")
                wrapped.__cause__ = error
                written.set_exception(wrapped)

        self._sender.send(record, done)
        return written

    def settle(self, seconds: float, clock: Callable[[], float]) -> bool:
        """Wait until all that was queued is durable or given up; False when the time was not enough."""
        until = clock() + seconds
        while not self._sender.flush(_FLUSH_CHECK_SECONDS):
            if clock() >= until:
                return False
        return True

    def _context(self, failed: FailedRecord, letter: Letter) -> list[tuple[str, bytes | None]]:
        text = bounded(self._scrub(text_of(failed.error)))
        values: tuple[tuple[str, str | None], ...] = (
            *letter.origin,
            ("connector.name", self._connector),
            ("task.id", str(self._task)),
            ("stage", failed.stage.value),
            ("class.name", failed.plugin),
            ("exception.class.name", class_name(failed.error)),
            ("exception.message", text or None),
            ("exception.stacktrace", bounded(self._scrub(trace_text(failed.error)))),
        )
        return [
            (_HEADER_PREFIX + name, None if value is None else writable(value).encode())
            for name, value in values
        ]


@dataclass(frozen=True, slots=True)
class Letter:
    """A record that failed, as bytes."""

    value: bytes | None
    """Its value in bytes; None where it had none."""
    key: bytes | None
    """Its key in bytes; None where it had none."""
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
    def timestamp(self) -> tuple[int, int]: ...


def letter_of_message(original: object) -> Letter:
    """Keep a message a sink read, as it was."""
    message: KafkaMessage = original  # type: ignore[assignment]  # sinks report messages only
    kind, stamp = message.timestamp()
    return Letter(
        message.value(),
        message.key(),
        list(message.headers() or ()),
        stamp if kind and stamp != NO_TIMESTAMP else None,
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
        kind, stamp = unwritten.timestamp()
        kept = stamp if kind else None
        return Letter(unwritten.value(), unwritten.key(), headers, kept, (("topic", unwritten.topic()),))

    def _of_record(self, record: SourceRecord) -> Letter:
        origin = (
            ("topic", record.topic),
            ("source.partition", json.dumps(record.source_partition, default=str)),
            ("source.offset", json.dumps(record.source_offset, default=str)),
        )
        if isinstance(record, UnreadableRecord) and isinstance(record.value, bytes | str):
            found = record.value.encode() if isinstance(record.value, str) else record.value
            return Letter(found, None, (), record.timestamp, origin)
        value = self._bytes(record.topic, record.value_schema, record.value)
        key = self._bytes(record.topic, record.key_schema, record.key)
        stamp = record.timestamp
        kept = stamp if isinstance(stamp, int) and abs(stamp) < _BEYOND_KAFKA else None
        return Letter(value, key, (), kept, origin)

    def _bytes(self, topic: str, schema: Schema | None, value: object) -> bytes | None:
        if value is None:
            return None
        try:
            return self._encode(topic, schema, value)
        except BaseException:
            # JSON may fail for the very reason the record failed: what Python shows is better than nothing.
            return repr(value).encode()
