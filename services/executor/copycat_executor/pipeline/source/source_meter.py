"""What a source task does, in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink

#: Between two reports; while the task rests there is nothing to report.
_REPORT_INTERVAL_SECONDS: Final = 1.0


class SourceMeter:
    """Measures one run of a source task, batch by batch, and reports each second."""

    def __init__(self, measures: Measures, link: TaskLink, progress: Callable[[], tuple[int, int]]) -> None:
        """`progress` says how many records were written, and how many are under way."""
        self._measures = measures
        self._link = link
        self._progress = progress
        self._written = 0
        self.commits = CommitMeter(measures)

    def polled(self, records: int, began: float) -> None:
        """A poll that began at a time of the clock gave a batch."""
        measures = self._measures
        measures.note("poll-batch-time-ms", (measures.clock() - began) * 1000)
        measures.note("source-record-poll", records)
        measures.note("batch-size", records)

    def report(self, *, now: bool = False) -> None:
        """Report what is new, if a report is due or wanted now."""
        measures = self._measures
        if not (now or measures.due(_REPORT_INTERVAL_SECONDS)):
            return
        written, active = self._progress()
        if written > self._written:
            measures.note("source-record-write", written - self._written)
            self._written = written
        measures.note_state("source-record-active-count", active)
        self.flush()

    def flush(self) -> None:
        """Report what was noted already, e.g. when everything is closed."""
        self._link.measured(self._measures.take())
