"""The way of source records: transform, convert, hand to the producer, note how far that is.

Batches travel as columns, and so do runs of plain records, those without headers and without a partition
and a timestamp of their own: no object per record. What is out of the ordinary, and every batch
in which something fails, goes record by record, so that a failure meets its record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.records import SourceRecord
from copycat_connect.data.unreadable import UnreadableRecord

from copycat_executor.pipeline.records.chain import Chain
from copycat_executor.pipeline.source.column_lane import ColumnLane
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.source.record_lane import RecordLane
from copycat_executor.pipeline.source.unreadable import UnreadableRecords
from copycat_executor.pipeline.source.written_records import WrittenRecords

Batch = SourceBatch | Sequence[SourceRecord]


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
        unreadable: UnreadableRecords,
    ) -> None:
        self._sender = sender
        self._columns = ColumnLane(chain, sender, progress, written)
        self._records = RecordLane(chain, sender, progress, written)
        self._unreadable = unreadable

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
                self._unreadable.report(record)
                start = place + 1
        self._deliver_run(records[start:] if start else records)

    def _deliver_run(self, records: Sequence[SourceRecord]) -> None:
        if records:
            self._records.deliver(records)
