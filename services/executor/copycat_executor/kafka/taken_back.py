"""Records that a producer gave back although they are to be written: they are sent again, in their order.

A topic may refuse a batch although each of its records is small enough. Java's producer splits such a batch
and sends the parts in its place (`Sender#canSplit`); librdkafka gives up all of its records. Here they are
kept, to be sent again in smaller batches; a batch small enough that was under way meanwhile stays before
them.

A producer that is replaced gives back all it had; what was on its way to a broker may be written twice.
"""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaError

from copycat_executor.pipeline.records.sender import Done, OutgoingRecord

Unwritten = tuple[OutgoingRecord, Done | None]

#: First the default of Java's producer, then each record alone.
_SMALLER_BATCHES_BYTES: Final = (16_384, 1)
_PURGED_IN_FLIGHT: Final = KafkaError._PURGE_INFLIGHT
_PURGED_IN_QUEUE: Final = KafkaError._PURGE_QUEUE


class TakenBack:
    """Keeps the records in their order, and knows how large the next batches may be."""

    def __init__(self, batch_size: int, *, repeats: bool = True) -> None:
        """Start with what the producer begins with, bytes; `repeats` as for the producer."""
        self.batch_size = batch_size
        self._again = {_PURGED_IN_FLIGHT, _PURGED_IN_QUEUE} if repeats else {_PURGED_IN_QUEUE}
        self.everything = False
        """Whether the producer is to give back what is on its way to brokers, too."""
        self._records: list[tuple[bool, Unwritten]] = []
        self._refused = False

    def __bool__(self) -> bool:
        return self.everything or bool(self._records)

    def keep(self, error: KafkaError, record: OutgoingRecord, done: Done | None) -> bool:
        """Keep a record that is to be sent again; False when it failed for itself."""
        code = error.code()
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            kept = self._next() is not None and _size(record) <= self.batch_size
            self._refused |= kept
        else:  # what was queued behind a refused batch is taken back, to come after it again
            kept = bool(self) and code in self._again
        if kept:
            self._records.append((code == _PURGED_IN_QUEUE, (record, done)))
        return kept

    def take(self) -> list[Unwritten]:
        """Return what is to be sent again, and go on to smaller batches where some were too large."""
        if self._refused:
            self.batch_size = self._next() or self.batch_size
        taken, self._records = self._records, []
        self._refused = self.everything = False
        # Of each partition what had been sent was before what waited.
        return [record for _, record in sorted(taken, key=lambda each: each[0])]

    def _next(self) -> int | None:
        return next((size for size in _SMALLER_BATCHES_BYTES if size < self.batch_size), None)


def _size(record: OutgoingRecord) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.value or b"") + len(record.key or b"") + headers
