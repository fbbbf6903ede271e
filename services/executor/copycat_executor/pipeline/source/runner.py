"""Runs one source task: poll, deliver, flush, acknowledge, again and again until told to end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.errors import RetriableError
from copycat_connect.plugin.tasks import SourceTask

from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.sender import RecordSender
from copycat_executor.pipeline.records.stages import (
    DrainedError,
    Stage,
    StaleTaskError,
    TaskFailedError,
    failing,
)
from copycat_executor.pipeline.source.commits import SourceCommits
from copycat_executor.pipeline.source.context import RunningSourceContext
from copycat_executor.pipeline.source.meter import SourceMeter
from copycat_executor.pipeline.source.path import Batch, SourcePath
from copycat_executor.pipeline.source.send_failures import SendFailures
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.link import TaskLink, TaskState
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.schedule import CommitSchedule
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topics import TopicLedger

_log = logging.getLogger(__name__)

_IDLE: Final = 0.05
_REST: Final = 0.2
_FLUSH_SLICE: Final = 0.15
_RETRY_FIRST: Final = 0.1
_RETRY_CEILING: Final = 5.0


@dataclass(frozen=True, slots=True)
class SourceParts:
    """What a source task runs with."""

    task: SourceTask
    """The task, not yet started."""
    config: Mapping[str, str]
    """Its configuration, placeholders resolved."""
    path: SourcePath
    """Delivers its records."""
    sender: RecordSender
    """Where the path hands records to."""
    failures: SendFailures
    """What the sender could not write."""
    measures: Measures
    """Its numbers."""
    commits: SourceCommits
    """Its offsets."""
    topics: TopicLedger
    """Its topics."""
    link: TaskLink
    """Where it reports to."""
    control: TaskControl
    """Where it is told what to do."""
    dead_letters: DeadLetterQueue | None = None
    """Where failed records go."""
    closers: Sequence[Callable[[], None]] = ()
    """What to let go of at the end, after the task's `stop`."""


class SourceRunner:
    """One run of one source task, from `initialize` to `stop`; used by one thread."""

    def __init__(
        self, parts: SourceParts, timing: Timing, clock: Callable[[], float], tidy: Callable[[], None]
    ) -> None:
        """Compose the run; `tidy` collects garbage and is called where a pause does no harm."""
        self._parts = parts
        self._timing = timing
        self._clock = clock
        self._tidy = tidy
        self._schedule = CommitSchedule(timing.commit_interval, clock())
        self._context = RunningSourceContext(lambda: parts.config, parts.link, self._wait)
        self._paused = False
        self._behind = False
        self._retry = _RETRY_FIRST
        self._meter = SourceMeter(parts.measures, parts.link, self._progress)

    def run(self) -> None:
        """Run until told to end; blocks.

        Raises:
            TaskFailedError: The task failed; everything is closed.
            StaleTaskError: A newer generation of the task exists; everything is closed.
        """
        try:
            self._start()
            try:
                self._loop()
            except TaskFailedError:
                self._commit_last()
                raise
            self._commit_last()
        except DrainedError:
            _log.info("The task was told to end before it had started")
        finally:
            self._close()

    def cancel(self) -> None:
        """Write nothing more, although the task's thread hangs; called by another thread."""
        self._parts.sender.drop()

    def _start(self) -> None:
        parts = self._parts
        self._paused = parts.control.paused
        if self._paused:
            parts.link.state(TaskState.PAUSED)
        with failing(Stage.START):
            parts.task.initialize(self._context)
            parts.task.start(parts.config)
        self._tidy()
        if not self._paused:
            parts.link.state(TaskState.RUNNING)

    def _loop(self) -> None:
        control = self._parts.control
        try:
            while not control.stopping:
                self._settle()
                self._meter.report()
                if control.paused is not self._paused:
                    self._paused = control.paused
                    self._parts.link.state(TaskState.PAUSED if self._paused else TaskState.RUNNING)
                if self._paused:
                    control.wait_for_news(_REST)
                elif not self._behind:
                    self._move()
                if self._behind or self._schedule.due_in(self._clock()) <= 0:
                    with failing(Stage.FLUSH):
                        self._commit()
        except DrainedError:
            return

    def _move(self) -> None:
        """Poll once and deliver what came."""
        parts = self._parts
        self._context.waited = False
        with failing(Stage.TASK_POLL):
            batch = self._poll()
        with failing(Stage.KAFKA_PRODUCE):
            if batch is not None and len(batch) > 0:
                self._schedule.note_data(self._clock())
                parts.path.deliver(batch)
            elif not self._context.waited:
                self._wait(_IDLE)
            parts.failures.check()
        parts.path.tell_written()

    def _poll(self) -> Batch | None:
        began = self._clock()
        try:
            batch = self._parts.task.poll()
        except RetriableError as error:
            _log.warning("The source is away, polling again in %.1f s: %s", self._retry, error)
            self._context.wait(self._retry)
            self._retry = min(self._retry * 2, _RETRY_CEILING)
            return None
        self._retry = _RETRY_FIRST
        if batch is not None:
            self._meter.polled(len(batch), began)
        return batch

    def _wait(self, seconds: float) -> bool:
        """Sleep until the time is over or the task must end; commits that fall due meanwhile are made."""
        control, clock = self._parts.control, self._clock
        until = clock() + seconds
        while not control.stopping and (left := until - clock()) > 0:
            if not self._parts.commits.pending:
                control.wait(left)
            elif (due := self._schedule.due_in(clock())) > 0:
                control.wait(min(left, due))
            else:
                self._acknowledge()
                self._schedule.done(clock())
        return control.stopping

    def _commit(self) -> None:
        """Make what was delivered durable and acknowledge it; the task hears of it even if nothing is new."""
        if not self._acknowledge() and not self._parts.commits.unsettled:
            self._tell_committed()
        self._schedule.done(self._clock())
        self._tidy()

    def _acknowledge(self) -> bool:
        parts, commits = self._parts, self._meter.commits
        commits.begin()
        if not parts.commits.pending:
            commits.nothing_new()
            return False
        # A flush that takes too long goes on before anything is polled: else it might never come to an end.
        self._behind = not self._flush()
        if self._behind:
            commits.failed()
            _log.warning("Records are not durable yet, polling waits for Kafka")
            return True
        if parts.failures:
            return True  # I1: one of the records is lost, so no offset after it may be committed
        topics = parts.topics.take_unreported()
        if topics:
            parts.link.topics_seen(topics)
        sequence = parts.commits.acknowledge()
        commits.acknowledged(sequence)
        return True

    def _flush(self) -> bool:
        control, was_stopping = self._parts.control, self._parts.control.stopping
        timing = self._timing
        until = self._clock() + (timing.last_commit if was_stopping else timing.flush_timeout)
        while not self._parts.sender.flush(_FLUSH_SLICE):
            if self._clock() >= until or control.dropped or control.stopping is not was_stopping:
                return False
        letters = self._parts.dead_letters
        return letters is None or letters.settle(self._timing.flush_timeout, self._clock)

    def _settle(self) -> None:
        committed = False
        for settlement in self._parts.control.take_settlements():
            self._meter.commits.settled(settlement.sequence, settlement.error)
            committed |= self._parts.commits.settle(settlement)
        if committed:
            self._tell_committed()

    def _commit_last(self) -> None:
        """Acknowledge for the last time and wait for the answer, while a drain leaves time for it."""
        parts = self._parts
        if parts.control.dropped:
            return
        until = self._clock() + self._timing.last_commit
        try:
            self._acknowledge()
            parts.path.tell_written()
            while parts.commits.unsettled and not parts.control.dropped and self._clock() < until:
                parts.control.wait_for_news(_REST)
                self._settle()
        except StaleTaskError:
            raise
        except Exception:
            _log.exception("The last offset commit failed; records since the one before will be repeated")

    def _tell_committed(self) -> None:
        try:
            self._parts.task.commit()
        except Exception:
            _log.exception("The task failed to take note of a commit")

    def _progress(self) -> tuple[int, int]:
        """Return how many records were written, and how many are under way."""
        parts = self._parts
        active = parts.sender.under_way()
        return parts.path.delivered - parts.failures.lost - active, active

    def _close(self) -> None:
        parts, meter = self._parts, self._meter
        for close in (lambda: meter.report(now=True), parts.task.stop, *parts.closers, meter.flush):
            try:
                close()
            except Exception:
                _log.exception("Something did not close")
