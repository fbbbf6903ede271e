"""Where a task wants its transactions to end (`transaction.boundary=connector`, KIP-618)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from copycat_connect.data.records import SourceRecord
from copycat_connect.errors import ConnectError


class TransactionEnd(Enum):
    """How a transaction is to end."""

    COMMIT = "commit"
    ABORT = "abort"


class TransactionRequests:
    """What a task asked for (`TransactionContext`), until it is carried out."""

    def __init__(self) -> None:
        self._after_batch: set[TransactionEnd] = set()
        # By identity: records may be equal. The record is kept, or another could get its identity.
        self._after_record: dict[int, tuple[SourceRecord, set[TransactionEnd]]] = {}

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after the record, or after the next batch when none is given."""
        self._add(record, TransactionEnd.COMMIT)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort with the record as the last, or after the next batch when none is given."""
        self._add(record, TransactionEnd.ABORT)

    def take_batch_end(self) -> TransactionEnd | None:
        """Return what is asked for after a batch, once.

        Raises:
            ConnectError: Both, to commit and to abort.
        """
        wanted, self._after_batch = self._after_batch, set()
        return _one_of(wanted, "the same batch")

    def cut(
        self, records: Sequence[SourceRecord]
    ) -> Iterator[tuple[Sequence[SourceRecord], TransactionEnd | None]]:
        """Yield the records in runs, each with what is to happen after it.

        Raises:
            ConnectError: The task asked to commit and to abort after the same record.
        """
        start = 0
        for place, record in enumerate(records, 1):
            asked = self._after_record.pop(id(record), None)
            if asked is not None:
                yield records[start:place], _one_of(asked[1], "the same record")
                start = place
        if start < len(records):
            yield records[start:], None

    def __bool__(self) -> bool:
        """Whether something is asked for after single records."""
        return bool(self._after_record)

    def _add(self, record: SourceRecord | None, end: TransactionEnd) -> None:
        if record is None:
            self._after_batch.add(end)
        else:
            self._after_record.setdefault(id(record), (record, set()))[1].add(end)


def _one_of(wanted: set[TransactionEnd], what: str) -> TransactionEnd | None:
    if len(wanted) > 1:
        message = f"The connector asked to commit and to abort the transaction after {what}: ask for one"
        raise ConnectError(message)
    return next(iter(wanted), None)
