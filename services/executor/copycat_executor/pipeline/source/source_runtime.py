"""What a source task runs with, and the port of its guarantee of delivery."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from copycat_connect.plugin.contexts import TransactionContext
from copycat_connect.plugin.tasks import SourceTask

from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.sender import RecordSender
from copycat_executor.pipeline.source.sent_records import SendFailures, WrittenRecords
from copycat_executor.pipeline.source.source_offsets import SourceCommits
from copycat_executor.pipeline.source.source_path import Batch, DeliveryPath
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceRuntime:
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
    """Records that are still to be reported to the task."""
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
    """Requests to stop and pause, and the answers to its acknowledgements."""
    timing: Timing
    """How often it commits, and how long that may take."""
    clock: Callable[[], float]
    """Seconds that never run backwards."""
    collect_garbage: Callable[[], None]
    """Called after commits, where a pause does no harm."""
    dead_letters: DeadLetterQueue | None = None
    """Where failed records go."""
    closers: Sequence[Callable[[], None]] = ()
    """What to close at the end, after the task's `stop`."""

    def report_commit(self) -> None:
        """Call the task's `commit`, since offsets were committed; what it raises is logged, not raised."""
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


class SourceDelivery(Protocol):
    """A guarantee of delivery: when records are handed over and when offsets are committed.

    Used by the thread of one source task.
    """

    @property
    def transaction(self) -> TransactionContext | None:
        """What the task places its transaction boundaries with; None where it does not."""

    @property
    def behind(self) -> bool:
        """True while nothing is to be polled, since Kafka lags behind."""

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""

    def prepare(self) -> None:
        """Get ready, before the task itself starts; blocks.

        Raises:
            ConnectError: The guarantee is not possible; the text says why and what to do.
            StaleTaskError: A newer generation of the task exists.
            DrainedError: The task must end.
        """

    def deliver(self, batch: Batch) -> None:
        """Send a batch that is not empty to Kafka, or on its way there.

        Raises:
            ToleranceExceededError: A record failed.
            ConnectError: A record cannot be written.
            DrainedError: The task must end.
        """

    def commit_if_due(self) -> None:
        """Commit offsets, when it is time for that; called after every poll and every rest."""

    def pause(self) -> None:
        """Prepare for a while without batches."""

    def wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end; commits that fall due meanwhile are made."""

    def commit_last(self, *, failed: bool) -> None:
        """Commit what can still be, at the end of a run; `failed` when the task did not end by itself."""

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements; none of them is stale."""
