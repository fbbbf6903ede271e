"""The run of a sink task whose records Spark writes: rounds of ranges, each committed as a whole."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final, Protocol, cast

from copycat_connect.config.delivery import guarantee_of_sink
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginSpec, RecordRange, SparkSinkTask

from copycat_executor.driverhost.partition_work import (
    fail_as,
    failed_plugins_of,
    refuse_at_most_once,
    root_level,
    slots_of,
)
from copycat_executor.driverhost.range_work import RangeReport, RangeWork
from copycat_executor.kafka.range_receivers import RangePlanner
from copycat_executor.pipeline.sink.sink_delivery import SinkDelivery
from copycat_executor.pipeline.sink.sink_loop import RunningSinkContext, SinkMeter
from copycat_executor.pipeline.sink.sink_runtime import SinkRuntime
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.stages import Stage, failing
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.spark.range_jobs import JobLostError, ShareWork
from copycat_executor.taskhost.assemble_sink import sink_delivery, sink_frame, sink_runtime
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)

#: While a round is under way, between two looks whether it is over.
_LOOK_SECONDS: Final = 0.02
#: While nothing is to be done, between two looks at topics and requests.
_REST_SECONDS: Final = 0.5
#: Between two looks at the ends of partitions, where rounds follow each other more slowly.
_POLL_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 1.0
#: A round that was lost is done again, so often in a row; its processes may have been the victims.
_TRIES: Final = 3


class ShareJobs(Protocol):
    """Runs jobs in a Spark session (`RangeJobs`)."""

    def run(self, works: Sequence[ShareWork], tag: str) -> list[bytes]:
        """Have each work done in a partition of its own, and return the reports in order; blocks.

        Raises:
            JobLostError: The job failed or was cancelled.
        """

    def cancel(self, tag: str) -> None:
        """End the jobs of a tag."""


def spark_sink_run(
    order: TaskOrder,
    spec: PluginSpec,
    surroundings: HostSurroundings,
    control: TaskControl,
    link: TaskLink,
    *,
    calls: CallLog,
    jobs: ShareJobs,
) -> TaskFrame:
    """Make the run of a sink task whose records Spark writes.

    Raises:
        ConfigError: The configuration does not work.
    """
    refuse_at_most_once(guarantee_of_sink(order.connector_config), spec)
    runtime = sink_runtime(order, spec, surroundings, control, link, calls=calls, receive=RangePlanner)
    loop = SparkSinkLoop(order, runtime, sink_delivery(order, runtime), jobs, surroundings)
    return sink_frame(loop, runtime)


@dataclass(frozen=True, slots=True)
class _Round:
    """Ranges that are being written."""

    shares: Sequence[Sequence[RecordRange]]
    """What each partition of Spark writes."""
    reports: Future[list[bytes]]
    """What they report, once all are written."""


class SparkSinkLoop:
    """What such a task does in each part of its run (`TaskSteps`)."""

    def __init__(
        self,
        order: TaskOrder,
        runtime: SinkRuntime,
        delivery: SinkDelivery,
        jobs: ShareJobs,
        surroundings: HostSurroundings,
    ) -> None:
        """Compose; at most `tasks.max` shares are written at once."""
        self._order, self._runtime, self._delivery, self._jobs = order, runtime, delivery, jobs
        self._task = cast("SparkSinkTask", runtime.task)
        self._planner = cast("RangePlanner", runtime.receiver)
        self._slots = slots_of(order)
        self._failed_plugins = failed_plugins_of(surroundings)
        self._context = RunningSinkContext(runtime)
        self._meter = SinkMeter(runtime, delivery)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="round")
        self._tag = f"copycat:{order.task_id}"
        self._round: _Round | None = None
        self._due = runtime.clock()
        self._tries = 0

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task, and find where to begin."""
        runtime = self._runtime
        with runtime.calls("start"):
            runtime.task.initialize(self._context)
            self._delivery.prepare()
            runtime.task.start(runtime.config)
            start = self._delivery.begin()
        self._context.assigned(start)
        self._context.suspend(paused)
        with runtime.calls("open"):
            runtime.task.open(self._context.assignment)
        self._seek()

    def set_paused(self, paused: bool) -> None:
        """Begin no more rounds, or again."""
        self._context.suspend(paused)

    def go_round(self) -> None:
        """Finish the round that is over, or begin one that is due, else wait."""
        control, clock = self._runtime.control, self._runtime.clock
        if self._round is not None:
            if wait((self._round.reports,), _LOOK_SECONDS).done:
                self._finish()
            return
        self._delivery.follow_topics()
        self._seek()
        if self._context.suspended:
            control.wait_for_news(_REST_SECONDS)
        elif (left := self._due - clock()) > 0:
            control.wait_for_news(min(left, _REST_SECONDS))
        else:
            self._begin()

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements."""
        self._delivery.settle(settlements)

    def commit_last(self, *, failed: bool) -> None:
        """Let a round that is nearly over come to its end, and commit it."""
        if self._round is None:
            return
        if not failed:
            wait((self._round.reports,), self._runtime.timing.last_commit / 2)
        if failed or not self._round.reports.done():
            self._jobs.cancel(self._tag)
            return
        self._finish(closing=True)

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._delivery.unsettled

    def report_measures(self, *, now: bool = False) -> None:
        """Report what was measured, if a report is due or wanted now."""
        self._meter.report(now=now)

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what ends the run: the round, the task's `close` and `stop`, then what it ran with."""
        task, partitions = self._task, self._context.assignment
        closers = self._runtime.closers
        return (self._close, lambda: task.close(partitions), task.stop, *closers, self._meter.closed)

    def cancel(self) -> None:
        """End what is being written; called by another thread."""
        if self._round is not None:
            self._jobs.cancel(self._tag)

    def _close(self) -> None:
        self.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _seek(self) -> None:
        """Go on where the task asked to, before anything else is read."""
        rewinds = self._context.take_rewinds()
        assigned = self._context.assignment
        if rewinds:
            self._delivery.seek({each: offset for each, offset in rewinds.items() if each in assigned})

    def _begin(self) -> None:
        """Begin a round where there are records; `_due` says when to look next."""
        task, calls, now = self._task, self._runtime.calls, self._runtime.clock()
        with failing(Stage.KAFKA_CONSUME):
            try:
                with calls("read"):
                    shares = self._planner.shares(self._slots, task.range_records)
            except RetriableError as error:
                calls.failed("read", error)
                _log.warning("Kafka cannot be reached, trying again: %s", error)
                self._due = now + _RETRY_SECONDS
                return
        calls.worked("read")
        if not shares:
            self._due = now + min(_POLL_SECONDS, task.interval_seconds)
            return
        is_full = sum(each.end - each.begin for each in shares[0]) >= task.range_records
        self._due = now if is_full else now + task.interval_seconds
        works = [self._work(share) for share in shares]
        self._round = _Round(shares, self._thread.submit(self._jobs.run, works, self._tag))

    def _work(self, share: Sequence[RecordRange]) -> RangeWork:
        return RangeWork(self._order.command, share, self._failed_plugins, root_level())

    def _finish(self, *, closing: bool = False) -> None:
        """Commit what a round has written.

        Raises:
            TaskFailedError: It failed.
        """
        finished, self._round = self._round, None
        assert finished is not None  # whoever calls has looked
        try:
            written = finished.reports.result()
        except JobLostError as error:
            if not closing and not self._tries_again(str(error)):
                with failing(Stage.TASK_PUT):
                    raise ConnectError(f"Spark could not write the records: {error}") from error
            return
        reports: list[RangeReport] = [pickle.loads(each) for each in written]  # noqa: S301 - ours wrote it
        for report in reports:
            for measures in report.measures:
                self._runtime.link.measured(measures)
        for share, report in zip(finished.shares, reports, strict=True):
            if report.failure is not None:
                passes = report.failure.kind is FailureKind.TRANSIENT
                if passes and self._tries_again(report.failure.trace):
                    return
                fail_as(report.failure, f"wrote {_names(share)}")
        self._tries = 0
        self._runtime.calls.worked("put")
        self._store(finished, reports, closing=closing)

    def _store(self, finished: _Round, reports: Sequence[RangeReport], *, closing: bool) -> None:
        """Have the task make what was written count, and commit its positions."""
        with failing(Stage.TASK_PUT):
            self._task.take([report.written for report in reports])
        for topic in {topic for report in reports for topic in report.topics}:
            self._runtime.topics.meet(topic)
        self._planner.done(each for share in finished.shares for each in share)
        with failing(Stage.FLUSH), self._runtime.calls("pre_commit"):
            if self._delivery.commit((), closing=closing):
                self._due = self._runtime.clock() + _RETRY_SECONDS

    def _tries_again(self, why: str) -> bool:
        """Return whether the records of the round that was lost are written again, after a pause."""
        self._tries += 1
        if self._tries >= _TRIES:
            return False
        self._runtime.calls.failed("put", why)
        _log.warning("The records are written again: %s", why)
        self._due = self._runtime.clock() + _RETRY_SECONDS
        return True


def _names(share: Sequence[RecordRange]) -> str:
    first = share[0]
    text = f"{first.partition.topic}-{first.partition.partition} from {first.begin} to {first.end}"
    return text if len(share) == 1 else f"{text} and {len(share) - 1} more"
