"""The lane of columns: batches that need no object for each record."""

from __future__ import annotations

from copycat_connect.data.batches import SourceBatch
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue

from copycat_executor.pipeline.records.chain import Chain, ChangedValues
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.source.written_records import WrittenRecords


class ColumnLane:
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
            records, none where that is not one: the lane of records goes on from there.

        Raises:
            ConnectError: The topic is missing and cannot be created.
            DrainedError: The task must end.
        """
        changed = self._apply_to_values(batch)
        if not self._takes(batch, changed):
            return changed
        if not self._send(batch, changed):
            return changed
        self._progress.advance(batch.source_partition, batch.source_offset)
        return None

    def _send(self, batch: SourceBatch, changed: ChangedValues) -> bool:
        values = (changed.schema, changed.values) if changed.done else (batch.value_schema, batch.values)
        if _is_placed(batch):
            return self._sender.send_placed(batch, values)
        keys = _keys(batch, changed.places)
        return self._sender.send_columns(batch.topic, keys, values, utf8=batch.utf8 and not changed.done)

    def _takes(self, batch: SourceBatch, changed: ChangedValues) -> bool:
        if changed.done < len(self._chain) or changed.places == []:
            return False  # nothing left: no topic is met, no progress made
        if _is_placed(batch) and changed.done:
            return False  # the other columns belong to the values as they were
        return batch.timestamp is None and not self._written.wanted

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
