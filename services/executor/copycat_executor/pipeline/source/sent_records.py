"""What became of the records handed to the producer: written or dropped, or given up."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from copycat_connect.data.records import RecordMetadata, SourceRecord
from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.records.sender import Done
from copycat_executor.pipeline.records.tolerate import FailedRecord, Tolerance
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError

_log = logging.getLogger(__name__)

CommitRecord = Callable[[SourceRecord, RecordMetadata | None], None]
CommitWatched = Callable[[object, RecordMetadata | None], None]

TASK_CLASS: Final = "org.apache.kafka.connect.runtime.WorkerSourceTask"


class WrittenRecords:
    """Calls a task's `commit_record` and `commit_watched` between polls, in the order of answers."""

    def __init__(
        self, commit_record: CommitRecord | None, commit_watched: CommitWatched | None = None
    ) -> None:
        """Compose; without `commit_record` the task does not want to hear of records, and none are kept."""
        self._commit_record = commit_record
        self._commit_watched = commit_watched
        # An attribute and no property: it is asked for every record.
        self.all_wanted = commit_record is not None
        self._watched: dict[int, tuple[SourceRecord, object]] = {}
        self._unreported: deque[Callable[[], None]] = deque()

    def watch(self, record: SourceRecord, mark: object) -> None:
        """Report one record of a batch to the task by its mark."""
        if self._commit_watched is not None:
            self._watched[id(record)] = (record, mark)

    def is_wanted(self, record: SourceRecord) -> bool:
        """Return whether this record is to be reported to the task."""
        return self.all_wanted or id(record) in self._watched

    def note(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Note that a record is durable at a place in Kafka, or without a place: that it was dropped."""
        if self._commit_record is not None:
            commit_record = self._commit_record
            self._unreported.append(lambda: commit_record(record, metadata))
        if self._watched:
            _, mark = self._watched.pop(id(record), (None, None))
            if mark is not None:
                self._note_mark(mark, metadata)

    def mark_callback(self, mark: object) -> Done:
        """Return what a producer calls when a watched record is written."""
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


class SendFailures:
    """Records that the producer gave up: the first fails the task, unless all are tolerated (KIP-779)."""

    def __init__(self, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._first: Exception | None = None
        self.lost = 0

    def __bool__(self) -> bool:
        return self._first is not None

    def add(self, error: Exception, message: object) -> None:
        """Note a record that was not written; `message` is what the producer knows of it."""
        self.lost += 1
        self._tolerance.note_failure()
        try:
            self._tolerance.fail(FailedRecord(Stage.KAFKA_PRODUCE, TASK_CLASS, error, message))
        except ToleranceExceededError:
            self._first = self._first or error
        else:
            _log.debug("A record was not written and is left out: %s", error)

    def fatal(self, error: Exception, message: object) -> None:
        """Note a record that was not written, with which its whole transaction fails, tolerated or not."""
        del message
        self.lost += 1
        self._tolerance.note_failure()
        self._first = self._first or error

    def check(self) -> None:
        """Raise when a failure is not tolerated.

        Raises:
            ConnectError: A record was not written and never will be.
        """
        if self._first is not None:
            raise ConnectError("Unrecoverable exception from producer send callback") from self._first
