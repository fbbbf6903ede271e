"""What a source task found and could not read: reported like any failed record, in its turn."""

from __future__ import annotations

from copycat_connect.data.unreadable import UnreadableRecord

from copycat_executor.pipeline.records.tolerate import FailedRecord, Tolerance
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.source.written_records import WrittenRecords
from copycat_executor.pipeline.task.stages import Stage


class UnreadableRecords:
    """Reports them to the error operator of a task."""

    def __init__(
        self, tolerance: Tolerance, task: str, progress: SourceProgress, written: WrittenRecords
    ) -> None:
        """Compose; `task` is the class name that reports show."""
        self._tolerance = tolerance
        self._task = task
        self._progress = progress
        self._written = written

    def report(self, record: UnreadableRecord) -> None:
        """Report one, all before it being handed over, and note its offset.

        Raises:
            ToleranceExceededError: It is not tolerated.
        """
        self._tolerance.note_failure()
        self._tolerance.fail(FailedRecord(Stage.TASK_POLL, self._task, record.error, record))
        self._written.note(record, None)
        self._progress.advance(record.source_partition, record.source_offset)
