"""The dead letter queue of a sink: failed records as they were, with where and why they failed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from copycat_connect.data.topic_partition import RecordMetadata
from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.receiver import KafkaMessage
from copycat_executor.pipeline.sender import OutgoingRecord, RecordSender
from copycat_executor.pipeline.tolerate import FailedRecord
from copycat_executor.pipeline.trace import class_name, trace_text

_log = logging.getLogger(__name__)

_PREFIX: Final = "__connect.errors."
_FLUSH_SLICE: Final = 0.15


class DeadLetterQueue:
    """Writes failed messages to a topic; nothing about them is committed before they are durable there."""

    def __init__(
        self, sender: RecordSender, topic: str, connector: str, task: int, *, context_headers: bool
    ) -> None:
        self._sender = sender
        self._topic = topic
        self._connector = connector
        self._task = task
        self._context_headers = context_headers

    def report(self, failed: FailedRecord) -> None:
        """Queue a failed message; a failure to write it is logged."""
        self.send(failed)

    def send(self, failed: FailedRecord) -> Future[None]:
        """Queue a failed message; the future tells when it is durable."""
        message: KafkaMessage = failed.original  # type: ignore[assignment]  # sinks report messages only
        kind, stamp = message.timestamp()
        headers = list(message.headers() or ())
        if self._context_headers:
            headers += self._context(failed, message)
        record = OutgoingRecord(
            self._topic,
            message.value(),
            message.key(),
            headers,
            timestamp=stamp if kind and stamp >= 0 else None,
        )
        written: Future[None] = Future()

        def done(_: RecordMetadata | None, error: Exception | None) -> None:
            if error is None:
                written.set_result(None)
            else:
                _log.error("Could not produce message to dead letter queue. topic=%s: %s", self._topic, error)
                wrapped = ConnectError(f"Could not produce message to dead letter queue. topic={self._topic}")
                wrapped.__cause__ = error
                written.set_exception(wrapped)

        self._sender.send(record, done)
        return written

    def settle(self, seconds: float, clock: Callable[[], float]) -> bool:
        """Wait until all that was queued is durable or given up; False when the time was not enough."""
        until = clock() + seconds
        while not self._sender.flush(_FLUSH_SLICE):
            if clock() >= until:
                return False
        return True

    def _context(self, failed: FailedRecord, message: KafkaMessage) -> list[tuple[str, bytes | None]]:
        text = str(failed.error)
        values: tuple[tuple[str, str | None], ...] = (
            ("topic", message.topic()),
            ("partition", str(message.partition())),
            ("offset", str(message.offset())),
            ("connector.name", self._connector),
            ("task.id", str(self._task)),
            ("stage", failed.stage.value),
            ("class.name", failed.plugin),
            ("exception.class.name", class_name(failed.error)),
            ("exception.message", text or None),
            ("exception.stacktrace", trace_text(failed.error)),
        )
        return [(_PREFIX + name, None if value is None else value.encode()) for name, value in values]
