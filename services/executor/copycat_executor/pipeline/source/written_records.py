"""Source records that became durable or were dropped, until their task hears of it."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from copycat_connect.data.record_metadata import RecordMetadata
from copycat_connect.data.records import SourceRecord

from copycat_executor.pipeline.records.sender import Done

CommitRecord = Callable[[SourceRecord, RecordMetadata | None], None]
CommitWatched = Callable[[object, RecordMetadata | None], None]
_log = logging.getLogger(__name__)


class WrittenRecords:
    """Calls a task's `commit_record` and `commit_watched` between polls, in the order of answers."""

    def __init__(
        self, commit_record: CommitRecord | None, commit_watched: CommitWatched | None = None
    ) -> None:
        """Compose; without `commit_record` the task does not want to hear of records, and none are kept."""
        self._commit_record = commit_record
        self._commit_watched = commit_watched
        # An attribute and no property: it is asked for every record.
        self.wanted = commit_record is not None
        self._watched: dict[int, tuple[SourceRecord, object]] = {}
        self._unreported: deque[Callable[[], None]] = deque()

    def watch(self, record: SourceRecord, mark: object) -> None:
        """Tell the task of one record of a batch by its mark."""
        if self._commit_watched is not None:
            self._watched[id(record)] = (record, mark)

    def hears_of(self, record: SourceRecord) -> bool:
        """Tell whether the task is to hear of this record."""
        return self.wanted or id(record) in self._watched

    def note(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Note that a record is durable at a place in Kafka, or without a place: that it was dropped."""
        if self._commit_record is not None:
            commit_record = self._commit_record
            self._unreported.append(lambda: commit_record(record, metadata))
        if self._watched:
            _, mark = self._watched.pop(id(record), (None, None))
            if mark is not None:
                self._note_mark(mark, metadata)

    def teller(self, mark: object) -> Done:
        """Return what a producer is to call for a watched record."""
        return lambda metadata, _: self._note_mark(mark, metadata)

    def forget(self) -> None:
        """Drop what was noted since the last report: its transaction was aborted."""
        self._unreported.clear()
        self._watched.clear()

    def report(self) -> None:
        """Call the task for each record noted since the last call; what it raises is logged, not raised."""
        while self._unreported:
            try:
                self._unreported.popleft()()
            except BaseException:
                _log.exception("The task failed to take note of a record")

    def _note_mark(self, mark: object, metadata: RecordMetadata | None) -> None:
        if self._commit_watched is not None:
            commit_watched = self._commit_watched
            self._unreported.append(lambda: commit_watched(mark, metadata))
