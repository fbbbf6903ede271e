"""The way of source records: transform, encode, hand to the producer, note how far that is.

Batches travel as columns, and so do runs of plain records, those without headers and without a partition
of their own: no object per record. What is out of the ordinary, and every batch in which something fails,
goes record by record, so that a failure meets its record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.records import SourceRecord, UnreadableRecord
from copycat_connect.data.schema import ConnectValue, Schema

from copycat_executor.pipeline.records.chain import Chain, ChangedValues
from copycat_executor.pipeline.records.tolerate import FailedRecord, Tolerance
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.sent_records import WrittenRecords
from copycat_executor.pipeline.source.source_offsets import SourceProgress
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage, ToleranceExceededError

Batch = SourceBatch | Sequence[SourceRecord]
#: A record as the task made it, and as the transformations left it.
Pair = tuple[SourceRecord, SourceRecord]


class DeliveryPath(Protocol):
    """Takes the batches of one task."""

    @property
    def delivered(self) -> int:
        """How many records were handed to the producer."""

    def deliver(self, batch: Batch) -> None:
        """Hand every record of a batch to the producer and note how far that is."""


class SourcePath:
    """Delivers the batches of one task, each by the lane it fits."""

    def __init__(
        self,
        chain: Chain,
        sender: EncodingSender,
        progress: SourceProgress,
        written: WrittenRecords,
        *,
        tolerance: Tolerance,
        task_class: str,
    ) -> None:
        """Compose; `task_class` is what reports of unreadable records name."""
        self._sender = sender
        self._progress = progress
        self._written = written
        self._columns = _ColumnLane(chain, sender, progress, written)
        self._records = _RecordLane(chain, sender, progress, written)
        self._tolerance = tolerance
        self._task_class = task_class

    @property
    def delivered(self) -> int:
        """How many records were handed to the producer."""
        return self._sender.delivered

    def deliver(self, batch: Batch) -> None:
        """Hand every record of a batch to the producer and note how far that is.

        Raises:
            ToleranceExceededError: A record failed; all before it were handed over.
            ConnectError: A topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        if isinstance(batch, SourceBatch):
            changed = self._columns.deliver(batch)
            if changed is not None:
                self._records.deliver_batch(batch, changed)
        else:
            self._deliver_records(batch)

    def _deliver_records(self, records: Sequence[SourceRecord]) -> None:
        start = 0
        for place, record in enumerate(records):
            if isinstance(record, UnreadableRecord):
                self._deliver_run(records[start:place])
                self._report_unreadable(record)
                start = place + 1
        self._deliver_run(records[start:] if start else records)

    def _deliver_run(self, records: Sequence[SourceRecord]) -> None:
        if records:
            self._records.deliver(records)

    def _report_unreadable(self, record: UnreadableRecord) -> None:
        """Report what the task could not read like any failed record, and note its offset."""
        self._tolerance.note_failure()
        self._tolerance.fail(FailedRecord(Stage.TASK_POLL, self._task_class, record.error, record))
        self._written.note(record, None)
        self._progress.advance(record.source_partition, record.source_offset)


class _ColumnLane:
    """Transforms and sends a batch as columns of keys and values: no object per record."""

    def __init__(
        self, chain: Chain, sender: EncodingSender, progress: SourceProgress, written: WrittenRecords
    ) -> None:
        self._chain = chain
        self._sender = sender
        self._progress = progress
        self._written = written

    def deliver(self, batch: SourceBatch) -> ChangedValues | None:
        """Deliver a whole batch and note its offset, or nothing of it.

        Returns:
            None when it is delivered. Otherwise the values after as many transformations as need no
            records, or as they were: the lane of records goes on from there.

        Raises:
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        changed, placed = self._apply_to_values(batch), _is_placed(batch)
        if changed.done < len(self._chain) or changed.places == []:
            return changed  # nothing left: no topic is met, no progress made
        if placed and changed.done:
            return changed  # the other columns belong to the values as they were
        if self._written.all_wanted:
            return changed
        values = (changed.schema, changed.values) if changed.done else (batch.value_schema, batch.values)
        if placed:
            sent = self._sender.send_placed(batch, values)
        else:
            keys, utf8 = _keys(batch, changed.places), batch.utf8 and not changed.done
            sent = self._sender.send_columns(batch.topic, keys, values, utf8=utf8, timestamps=batch.timestamp)
        if not sent:
            return changed
        self._progress.advance(batch.source_partition, batch.source_offset)
        return None

    def _apply_to_values(self, batch: SourceBatch) -> ChangedValues:
        """Apply as many steps as need no records."""
        untouched = ChangedValues(batch.value_schema, [], 0)
        if not self._chain:
            return untouched
        try:
            changed = self._chain.apply_to_values(batch.value_schema, _private_values(batch))
        except BaseException:
            # Which record it was shows when they go one by one.
            return untouched
        return changed if changed.done else untouched


def _is_placed(batch: SourceBatch) -> bool:
    columns = (batch.kafka_partition, batch.timestamps, batch.headers, batch.watched)
    return columns != (None, None, None, None)


def _keys(batch: SourceBatch, places: list[int] | None) -> tuple[Schema | None, list[ConnectValue] | None]:
    if batch.keys is None or places is None:
        return batch.key_schema, batch.keys
    return batch.key_schema, [batch.keys[place] for place in places]


def _private_values(batch: SourceBatch) -> list[ConnectValue]:
    """Return values that may be changed; a task may hold on to those in the batch."""
    if batch.utf8:
        return [value.decode() for value in batch.values]
    return [dict(value) if type(value) is dict else value for value in batch.values]


class _RecordLane:
    """Transforms and sends records; those of one kind that follow each other are encoded together."""

    def __init__(
        self, chain: Chain, sender: EncodingSender, progress: SourceProgress, written: WrittenRecords
    ) -> None:
        self._chain = chain
        self._sender = sender
        self._progress = progress
        self._written = written

    def deliver(self, records: Sequence[SourceRecord]) -> None:
        """Deliver records and note the offset of each.

        Raises:
            ToleranceExceededError: A record failed; all before it were handed over.
            ConnectError: A topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        self._deliver(records, map(SourceRecord.private, records), track=True)

    def deliver_batch(self, batch: SourceBatch, changed: ChangedValues) -> None:
        """Deliver a batch that begins with `changed` values; raises as `deliver` does.

        A batch without offsets of its records has one offset, noted once all of them were handed over.
        """
        every = list(batch)
        for place, mark in (batch.watched or {}).items():
            self._written.watch(every[place], mark)
        originals = self._remaining(every, changed.places)
        if changed.done:
            partly_transformed = _with_values(originals, changed.schema, changed.values)
        else:
            partly_transformed = map(SourceRecord.private, originals)
        track = batch.offsets is not None
        left = self._deliver(originals, partly_transformed, track=track, done=changed.done)
        if left and not track:
            self._progress.advance(batch.source_partition, batch.source_offset)

    def _remaining(self, originals: list[SourceRecord], places: list[int] | None) -> list[SourceRecord]:
        """Drop the records that steps have dropped already."""
        if places is None:
            return originals
        kept = set(places)
        for place, original in enumerate(originals):
            if place not in kept:
                self._written.note(original, None)
        return [originals[place] for place in places]

    def _deliver(
        self,
        records: Sequence[SourceRecord],
        partly_transformed: Iterable[SourceRecord],
        *,
        track: bool,
        done: int = 0,
    ) -> bool:
        """Deliver one by one or in runs; returns whether any record was left to deliver.

        `partly_transformed` are the records as the first `done` steps left them.
        """
        pairs, failure = self._transform(records, partly_transformed, done)
        start = 0
        while start < len(pairs):
            end = self._run_end(pairs, start)
            self._send_run(pairs[start:end], track=track)
            start = end
        if failure is not None:
            raise failure
        return bool(pairs)

    def _transform(
        self, records: Sequence[SourceRecord], partly_transformed: Iterable[SourceRecord], done: int
    ) -> tuple[list[Pair], ToleranceExceededError | None]:
        if not self._chain:
            return [(record, record) for record in records], None
        if self._chain.takes_records:
            return self._transform_at_once(records, partly_transformed, done)
        pairs: list[Pair] = []
        for original, private in zip(records, partly_transformed, strict=True):
            try:
                record = self._chain.apply(private, original, done)
            except RecordSkippedError:
                record = None
            except ToleranceExceededError as error:
                return pairs, error
            if record is None:
                self._written.note(original, None)
            else:
                pairs.append((original, record))
        return pairs, None

    def _transform_at_once(
        self, records: Sequence[SourceRecord], partly_transformed: Iterable[SourceRecord], done: int
    ) -> tuple[list[Pair], ToleranceExceededError | None]:
        outcomes = self._chain.apply_to_records(partly_transformed, records, done)
        left = dict(outcomes.records)
        for place, original in enumerate(records[: outcomes.end]):
            if place not in left:
                self._written.note(original, None)
        return [(records[place], record) for place, record in outcomes.records], outcomes.failure

    def _run_end(self, pairs: Sequence[Pair], start: int) -> int:
        """Find the end of the run of records that can travel as columns together; at least one record."""
        first = pairs[start][1]
        if self._written.is_wanted(pairs[start][0]) or not _is_plain(first):
            return start + 1
        for place in range(start + 1, len(pairs)):
            record = pairs[place][1]
            same = (
                record.topic == first.topic
                and record.value_schema is first.value_schema
                and record.key_schema is first.key_schema
            )
            heard = self._written.is_wanted(pairs[place][0])
            if heard or not (same and _is_plain(record)):
                return place
        return len(pairs)

    def _send_run(self, run: Sequence[Pair], *, track: bool) -> None:
        if len(run) > 1 and self._send_run_as_columns(run):
            sent = [original for original, _ in run] if track else []
            for original in sent:
                self._progress.advance(original.source_partition, original.source_offset)
            return
        for original, record in run:
            if self._sender.send_record(record, original) and track:
                self._progress.advance(original.source_partition, original.source_offset)

    def _send_run_as_columns(self, run: Sequence[Pair]) -> bool:
        first = run[0][1]
        keys = (first.key_schema, [record.key for _, record in run])
        values = (first.value_schema, [record.value for _, record in run])
        stamps = [record.timestamp for _, record in run]
        timed = None if stamps.count(None) == len(stamps) else stamps
        return self._sender.send_columns(first.topic, keys, values, utf8=False, timestamps=timed)


def _with_values(
    records: Sequence[SourceRecord], schema: Schema | None, values: Sequence[ConnectValue]
) -> Iterator[SourceRecord]:
    for record, value in zip(records, values, strict=True):
        private = record.private()
        private.value_schema, private.value = schema, value
        yield private


def _is_plain(record: SourceRecord) -> bool:
    return record.kafka_partition is None and not record.has_headers
