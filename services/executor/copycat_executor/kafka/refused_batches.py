"""Batches that a topic does not take although each of its records is small enough.

Java's producer splits such a batch and sends the parts in its place (`Sender#canSplit`); librdkafka gives up
all of its records. Here they are kept, to be sent again in smaller batches; a batch small enough that was
under way meanwhile stays before them.
"""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaError

from copycat_executor.pipeline.records.sender import Done, OutgoingRecord

Refused = tuple[OutgoingRecord, Done | None]

#: First the default of Java's producer, then each record alone.
_SMALLER_BATCHES_BYTES: Final = (16_384, 1)


class RefusedBatches:
    """Keeps the records of refused batches in their order, and knows how large the next may be."""

    def __init__(self, batch_size: int) -> None:
        """`batch_size` is what the producer begins with, bytes."""
        self.batch_size = batch_size
        self._records: list[Refused] = []

    def __bool__(self) -> bool:
        return bool(self._records)

    def keep(self, error: KafkaError, record: OutgoingRecord, done: Done | None) -> bool:
        """Keep a record for a smaller batch; False when it failed for itself."""
        if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            kept = self._next() is not None and _size(record) <= self.batch_size
        else:  # what was queued behind a refused batch is taken back, to come after it again
            kept = bool(self._records) and error.code() == KafkaError._PURGE_QUEUE
        if kept:
            self._records.append((record, done))
        return kept

    def take(self) -> list[Refused]:
        """Return what is to be sent again, and go on to smaller batches."""
        self.batch_size = self._next() or self.batch_size
        taken, self._records = self._records, []
        return taken

    def _next(self) -> int | None:
        return next((size for size in _SMALLER_BATCHES_BYTES if size < self.batch_size), None)


def _size(record: OutgoingRecord) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.value or b"") + len(record.key or b"") + headers
