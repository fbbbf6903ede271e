"""Source records that became durable or were dropped, until their task hears of it."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from copycat_connect.data.record_metadata import RecordMetadata
from copycat_connect.data.records import SourceRecord

CommitRecord = Callable[[SourceRecord, RecordMetadata | None], None]
_log = logging.getLogger(__name__)


class WrittenRecords:
    """Calls a task's `commit_record` between two polls, for each record in the order of Kafka's answers."""

    def __init__(self, commit_record: CommitRecord | None) -> None:
        """Compose; without `commit_record` the task does not want to hear of records, and none are kept."""
        self._commit_record = commit_record
        # An attribute and no property: it is asked for every record.
        self.wanted = commit_record is not None
        self._unreported: deque[tuple[SourceRecord, RecordMetadata | None]] = deque()

    def note(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Note that a record is durable at a place in Kafka, or without a place: that it was dropped."""
        if self._commit_record is not None:
            self._unreported.append((record, metadata))

    def report(self) -> None:
        """Call the task for each record noted since the last call; what it raises is logged, not raised."""
        while self._commit_record is not None and self._unreported:
            record, metadata = self._unreported.popleft()
            try:
                self._commit_record(record, metadata)
            except Exception:
                _log.exception("The task failed to take note of a record")
