"""Traces that the records of a source task belong to, and those that it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from copycat_telemetry.record_spans import BatchTrace, RecordSpans

from copycat_executor.pipeline.records.origins import Counted, origin
from copycat_executor.pipeline.records.sender import KafkaHeaders


class SourceTraces:
    """Follows one batch at a time, from its poll until its last record was handed to the producer."""

    def __init__(
        self, spans: RecordSpans, now: Callable[[], int], random: Callable[[], float], ratio: float
    ) -> None:
        """Follow records that belong to a trace, and begin one with a share of the batches.

        Args:
            spans: Makes the spans.
            now: The time of day, nanoseconds since the epoch.
            random: Numbers from 0 to 1.
            ratio: Share of the batches that begin a trace; 0 changes no record.
        """
        self._spans = spans
        self._now = now
        self._random = random
        self._ratio = ratio
        self._origins = Counted()
        self.header = b""
        """The `traceparent` that records without one get now; empty where they get none."""

    @contextmanager
    def batch(self, records: int) -> Iterator[None]:
        """Follow the records that the block hands over."""
        began, self._origins = self._now(), Counted()
        trace = self._spans.begin(records) if self._ratio and self._random() < self._ratio else None
        self.header = b"" if trace is None else trace.header
        try:
            yield
        except BaseException as error:
            self._end(trace, began, error)
            raise
        self._end(trace, began, None)

    def belongs(self, headers: KafkaHeaders, topic: str) -> bool:
        """Return whether a record belongs to a trace already, and count it there."""
        parent = origin(headers) if headers else None
        if parent is None:
            return False
        self._origins[parent, topic] += 1
        return True

    def _end(self, trace: BatchTrace | None, began: int, error: BaseException | None) -> None:
        self.header = b""
        if self._origins:
            self._spans.note(self._origins, began, error)
        if trace is not None:
            trace.end(error)
