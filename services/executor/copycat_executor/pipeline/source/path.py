"""The way of source records: transform, convert, hand to the producer.

Records without headers, and without a partition and a timestamp of their own, travel as columns: no object
per record. What is out of the ordinary, and every batch in which something fails, goes record by record, so
that a failure meets its record.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.record_metadata import RecordMetadata
from copycat_connect.data.records import SourceRecord
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue

from copycat_executor.pipeline.records.chain import Chain, ChangedValues
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.sender import RecordSender
from copycat_executor.pipeline.records.stages import RecordSkippedError, ToleranceExceededError
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.source.encode import Encoder
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.task.topics import TopicLedger

Batch = SourceBatch | Sequence[SourceRecord]
CommitRecord = Callable[[SourceRecord, RecordMetadata | None], None]
_log = logging.getLogger(__name__)
Pair = tuple[SourceRecord, SourceRecord]


class SourcePath:
    """Delivers batches of one task."""

    def __init__(
        self,
        *,
        chain: Chain,
        converters: Converters,
        sender: RecordSender,
        topics: TopicLedger,
        progress: SourceProgress,
        tolerance: Tolerance,
        commit_record: CommitRecord | None = None,
    ) -> None:
        """Compose the path; `commit_record` is given when the task wants to hear of each record."""
        self._chain = chain
        self._encoder = Encoder(converters, tolerance)
        self._sender = sender
        self._topics = topics
        self._progress = progress
        self._commit_record = commit_record
        self._written: deque[tuple[SourceRecord, RecordMetadata | None]] = deque()
        self.delivered = 0

    def deliver(self, batch: Batch) -> None:
        """Hand every record of a batch to the producer and note how far that is.

        Raises:
            ToleranceExceededError: A record failed; all before it were handed over.
            DrainedError: The task must end.
        """
        if isinstance(batch, SourceBatch):
            self._deliver_batch(batch)
        else:
            self._deliver_records(batch, track=True)

    def _deliver_batch(self, batch: SourceBatch) -> None:
        changed = self._apply_to_values(batch)
        done, places = changed.done, changed.places
        plain = done == len(self._chain) and self._commit_record is None and batch.timestamp is None
        plain = plain and places != []  # nothing left: no topic is met, no progress made
        utf8 = batch.utf8 and not done
        if plain and self._send_columns(
            batch.topic, _keys(batch, places), (changed.schema, changed.values), utf8=utf8
        ):
            self._progress.advance(batch.source_partition, batch.source_offset)
            return
        originals = self._remaining(list(batch), places)
        begun = _with_values(originals, changed.schema, changed.values) if done else None
        tracked = batch.offsets is not None
        left = self._deliver_records(originals, track=tracked, begun=begun, done=done, read_at=batch.read_at)
        if left and not tracked:
            self._progress.advance(batch.source_partition, batch.source_offset)

    def _remaining(self, originals: list[SourceRecord], places: list[int] | None) -> list[SourceRecord]:
        """Drop the records that steps have dropped already."""
        if places is None:
            return originals
        kept = set(places)
        for place, original in enumerate(originals):
            if place not in kept:
                self._drop(original)
        return [originals[place] for place in places]

    def _apply_to_values(self, batch: SourceBatch) -> ChangedValues:
        """Apply as many steps as need no records."""
        untouched = ChangedValues(batch.value_schema, batch.values, 0)
        if not self._chain:
            return untouched
        try:
            changed = self._chain.apply_to_values(batch.value_schema, _private_values(batch))
        except Exception:
            # Which record it was shows when they go one by one.
            return untouched
        return changed if changed.done else untouched

    def _deliver_records(
        self,
        records: Sequence[SourceRecord],
        *,
        track: bool,
        begun: Iterable[SourceRecord] | None = None,
        done: int = 0,
        read_at: int | None = None,
    ) -> bool:
        """Deliver one by one or in runs; returns whether any record was left to deliver.

        `begun` are the records after the first `done` steps. A timestamp `read_at` need not reach Kafka.
        """
        begun = map(SourceRecord.private, records) if begun is None else begun
        pairs, failure = self._transform(records, begun, done)
        start = 0
        while start < len(pairs):
            end = self._run_end(pairs, start, read_at)
            self._send_run(pairs[start:end], track=track)
            start = end
        if failure is not None:
            raise failure
        return bool(pairs)

    def _transform(
        self, records: Sequence[SourceRecord], begun: Iterable[SourceRecord], done: int
    ) -> tuple[list[Pair], ToleranceExceededError | None]:
        if not self._chain:
            return [(record, record) for record in records], None
        if self._chain.takes_records:
            return self._transform_at_once(records, begun, done)
        pairs: list[Pair] = []
        for original, private in zip(records, begun, strict=True):
            try:
                record = self._chain.apply(private, original, done)
            except RecordSkippedError:
                record = None
            except ToleranceExceededError as error:
                return pairs, error
            if record is None:
                self._drop(original)
            else:
                pairs.append((original, record))
        return pairs, None

    def _transform_at_once(
        self, records: Sequence[SourceRecord], begun: Iterable[SourceRecord], done: int
    ) -> tuple[list[Pair], ToleranceExceededError | None]:
        outcomes = self._chain.apply_to_records(begun, records, done)
        left = dict(outcomes.records)
        for place, original in enumerate(records[: outcomes.end]):
            if place not in left:
                self._drop(original)
        return [(records[place], record) for place, record in outcomes.records], outcomes.failure

    def _run_end(self, pairs: Sequence[Pair], start: int, read_at: int | None) -> int:
        """Find the end of the run of records that can travel as columns together; at least one record."""
        first = pairs[start][1]
        if self._commit_record is not None or not _is_plain(first, read_at):
            return start + 1
        for place in range(start + 1, len(pairs)):
            record = pairs[place][1]
            same = (
                record.topic == first.topic
                and record.value_schema is first.value_schema
                and record.key_schema is first.key_schema
            )
            if not (same and _is_plain(record, read_at)):
                return place
        return len(pairs)

    def _send_run(self, run: Sequence[Pair], *, track: bool) -> None:
        if len(run) > 1 and self._send_run_as_columns(run):
            sent = [original for original, _ in run] if track else []
            for original in sent:
                self._progress.advance(original.source_partition, original.source_offset)
            return
        for original, record in run:
            if self._send_one(original, record) and track:
                self._progress.advance(original.source_partition, original.source_offset)

    def _send_run_as_columns(self, run: Sequence[Pair]) -> bool:
        first = run[0][1]
        keys = (first.key_schema, [record.key for _, record in run])
        values = (first.value_schema, [record.value for _, record in run])
        return self._send_columns(first.topic, keys, values, utf8=False)

    def _send_columns(
        self,
        topic: str,
        keys: tuple[Schema | None, list[object] | None],
        values: tuple[Schema | None, list[object]],
        *,
        utf8: bool,
    ) -> bool:
        """Send columns; False when they must go record by record."""
        columns = self._encoder.columns(topic, keys, values, utf8=utf8)
        if columns is None:
            return False
        self._topics.meet(topic)
        self._sender.send_values(topic, columns.values, columns.keys)
        self.delivered += len(columns.values)
        return True

    def _send_one(self, original: SourceRecord, record: SourceRecord) -> bool:
        try:
            outgoing = self._encoder.record(record, original)
        except RecordSkippedError:
            self._drop(original)
            return False
        self._topics.meet(outgoing.topic)
        if self._commit_record is None:
            self._sender.send(outgoing)
        else:
            self._sender.send(outgoing, lambda metadata, _: self._written.append((original, metadata)))
        self.delivered += 1
        return True

    def _drop(self, original: SourceRecord) -> None:
        if self._commit_record is not None:
            self._written.append((original, None))

    def tell_written(self) -> None:
        """Tell the task which records became durable or were dropped; to be called between polls."""
        while self._commit_record is not None and self._written:
            record, metadata = self._written.popleft()
            try:
                self._commit_record(record, metadata)
            except Exception:
                _log.exception("The task failed to take note of a record")


def _keys(batch: SourceBatch, places: list[int] | None) -> tuple[Schema | None, list[ConnectValue] | None]:
    if batch.keys is None or places is None:
        return batch.key_schema, batch.keys
    return batch.key_schema, [batch.keys[place] for place in places]


def _private_values(batch: SourceBatch) -> list[ConnectValue]:
    """Return values that may be changed; a task may hold on to those in the batch."""
    if batch.utf8:
        return [value.decode() for value in batch.values]
    return [dict(value) if type(value) is dict else value for value in batch.values]


def _with_values(
    records: Sequence[SourceRecord], schema: Schema | None, values: list[ConnectValue]
) -> Iterator[SourceRecord]:
    for record, value in zip(records, values, strict=True):
        private = record.private()
        private.value_schema, private.value = schema, value
        yield private


def _is_plain(record: SourceRecord, read_at: int | None) -> bool:
    # The producer's own time stands for the time of reading.
    timed = record.timestamp is not None and record.timestamp != read_at
    return not timed and record.kafka_partition is None and not record.has_headers
