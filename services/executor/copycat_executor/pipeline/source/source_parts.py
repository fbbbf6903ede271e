"""What a source task runs with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from copycat_connect.plugin.tasks import SourceTask

from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.sender import RecordSender
from copycat_executor.pipeline.source.path import DeliveryPath
from copycat_executor.pipeline.source.send_failures import SendFailures
from copycat_executor.pipeline.source.source_commits import SourceCommits
from copycat_executor.pipeline.source.written_records import WrittenRecords
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceParts:
    """Everything around one source task; one thread uses it."""

    task: SourceTask
    """The task, not yet started."""
    config: Mapping[str, str]
    """Its configuration, placeholders resolved."""
    path: DeliveryPath
    """Transforms and converts the records of a poll and hands them to the sender."""
    sender: RecordSender
    """The producer, to which the path hands records."""
    written: WrittenRecords
    """Records of which the task is still to hear."""
    failures: SendFailures
    """What the sender could not write."""
    measures: Measures
    """What is measured of it, on its way to Connect's task metrics."""
    commits: SourceCommits
    """Offsets on their way to the offset service, until it has committed them."""
    topics: TopicLedger
    """The topics it met, for topic creation and for the active topics (KIP-158, KIP-558)."""
    calls: CallLog
    """Which of its calls is under way, for the progress watch."""
    link: TaskLink
    """Where it reports to."""
    control: TaskControl
    """Requests to stop and pause, and the fate of its acknowledgements."""
    dead_letters: DeadLetterQueue | None = None
    """Where failed records go."""
    closers: Sequence[Callable[[], None]] = ()
    """What to let go of at the end, after the task's `stop`."""

    def report_commit(self) -> None:
        """Tell the task that offsets were committed; what it raises is logged, not raised."""
        try:
            with self.calls("commit"):
                self.task.commit()
        except BaseException:
            _log.exception("The task failed to take note of a commit")

    def progress(self) -> tuple[int, int]:
        """Return how many records were written, and how many are under way."""
        self.sender.attend()
        active = self.sender.under_way()
        return self.path.delivered - self.failures.lost - active, active
