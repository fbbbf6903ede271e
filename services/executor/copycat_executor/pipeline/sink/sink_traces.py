"""Spans of records from the moment they were read to the end of the `put` that took them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from copycat_telemetry.record_spans import RecordSpans

from copycat_executor.pipeline.records.origins import Counted, origins_of
from copycat_executor.pipeline.records.receiver import KafkaMessage


class SinkTraces:
    """Follows one batch at a time; a batch that is put again is followed until it is taken."""

    def __init__(self, spans: RecordSpans, now: Callable[[], int]) -> None:
        """`now` is the time of day, nanoseconds since the epoch."""
        self._spans = spans
        self._now = now
        self._began = 0
        self._origins = Counted()

    def read(self, messages: Sequence[KafkaMessage]) -> None:
        """Take note of what was read just now."""
        self._began, self._origins = self._now(), origins_of(messages)

    def put(self, error: BaseException | None = None) -> None:
        """Note that what was read was put, or has failed the task."""
        if self._origins:
            self._spans.note(self._origins, self._began, error)
            self._origins = Counted()
