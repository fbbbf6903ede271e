"""What a sink task does, in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from copycat_executor.pipeline.records.receiver import RecordReceiver
from copycat_executor.pipeline.sink.positions import Offsets
from copycat_executor.pipeline.task.commit_meter import CommitMeter
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink

#: Between two reports.
_REPORT_INTERVAL_SECONDS: Final = 1.0
#: The same while nothing comes from Kafka: there are only empty puts to report.
_IDLE_REPORT_INTERVAL_SECONDS: Final = 5.0


class SinkMeter:
    """Measures one run of a sink task, batch by batch, and reports each second while records come."""

    def __init__(
        self, measures: Measures, link: TaskLink, receiver: RecordReceiver, committed: Callable[[], Offsets]
    ) -> None:
        """`committed` says where the task would begin after a crash."""
        self._measures = measures
        self._link = link
        self._receiver = receiver
        self._committed = committed
        self._moved = True
        self.commits = CommitMeter(measures)

    def read(self, records: int) -> None:
        """Count records that came from Kafka."""
        self._moved = True
        self._measures.note("sink-record-read", records)

    def put(self, records: int, began: float) -> None:
        """A put that began at a time of the clock took a batch."""
        measures = self._measures
        measures.note("put-batch-time-ms", (measures.clock() - began) * 1000)
        measures.note("sink-record-send", records)
        measures.note("batch-size", records)

    def report(self, *, now: bool = False) -> None:
        """Report what is new, if a report is due or wanted now."""
        measures = self._measures
        if not (
            now or measures.due(_REPORT_INTERVAL_SECONDS if self._moved else _IDLE_REPORT_INTERVAL_SECONDS)
        ):
            return
        self._moved = False
        committed, read = self._committed(), self._receiver.positions()
        active = sum(max(read.get(each, 0) - offset, 0) for each, offset in committed.items())
        measures.note_state("partition-count", len(committed))
        measures.note_state("sink-record-active-count", active)
        measures.note_state("sink-record-lag", self._receiver.lag())
        self.flush()

    def closed(self) -> None:
        """Report what was noted until everything was closed."""
        self._measures.note_state("partition-count", 0)
        self.flush()

    def flush(self) -> None:
        """Report what was noted already."""
        self._link.measured(self._measures.take())
