"""Spans of source records: around `SourcePath`, and between encoding and the producer.

Headers are read and added as bytes, behind transformations and converters, so that a batch that travels as
columns stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from copycat_telemetry.record_spans import BatchTrace, RecordSpans
from copycat_telemetry.tracing import TRACEPARENT

from copycat_executor.pipeline.records.origins import Counted, origin
from copycat_executor.pipeline.records.sender import (
    Done,
    KafkaHeaders,
    OutgoingRecord,
    PlacedRecords,
    RecordWriter,
)
from copycat_executor.pipeline.source.source_path import Batch, DeliveryPath


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


class TracedPath:
    """Follows each batch while it is delivered (`DeliveryPath`)."""

    def __init__(self, path: DeliveryPath, traces: SourceTraces) -> None:
        self._path = path
        self._traces = traces

    @property
    def delivered(self) -> int:
        """How many records were handed to the producer."""
        return self._path.delivered

    def deliver(self, batch: Batch) -> None:
        """Deliver a batch; raises as the path does."""
        with self._traces.batch(len(batch)):
            self._path.deliver(batch)


class TracedWriter:
    """Takes note of the traces of records on their way to the producer (`RecordWriter`)."""

    def __init__(self, writer: RecordWriter, traces: SourceTraces) -> None:
        self._writer = writer
        self._traces = traces

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        """Write plain records; they have no headers, unless the batch begins a trace."""
        if not self._traces.header:
            self._writer.send_values(topic, values, keys)
            return
        headers = [self._added(())] * len(values)
        self._writer.send_placed(PlacedRecords(topic, values, keys, headers, None, None), {})

    def send_placed(self, records: PlacedRecords, done: Mapping[int, Done]) -> None:
        """Write records with partition, timestamps or headers."""
        if records.headers is None and not self._traces.header:
            self._writer.send_placed(records, done)
            return
        found = records.headers or [()] * len(records.values)
        headers = [self._headers(each, records.topic) for each in found]
        self._writer.send_placed(replace(records, headers=headers), done)

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        """Write one record."""
        headers = self._headers(record.headers, record.topic)
        if headers is not record.headers:
            record = replace(record, headers=headers)
        self._writer.send(record, done)

    def _headers(self, headers: KafkaHeaders, topic: str) -> KafkaHeaders:
        belongs = self._traces.belongs(headers, topic)
        return self._added(headers) if self._traces.header and not belongs else headers

    def _added(self, headers: KafkaHeaders) -> KafkaHeaders:
        return [*headers, (TRACEPARENT, self._traces.header)]
