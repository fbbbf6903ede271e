"""The run of a task whose records Spark reads: plans units, and settles what partitions report of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat_connect.config.delivery import Guarantee
from copycat_connect.errors import RetriableError
from copycat_connect.plugin import PluginSpec, SparkSourceTask, SparkStream, SparkUnit, TopicRows
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition, TransactionContext

from copycat_executor.driverhost.partition_work import (
    PartitionFailure,
    fail_as,
    failed_plugins_of,
    refuse_at_most_once,
    slots_of,
)
from copycat_executor.driverhost.service_questions import PartitionLine, ServiceQuestions
from copycat_executor.driverhost.stream_run import RunningQueries, StreamRun, StreamWorks
from copycat_executor.driverhost.topic_rows import DriverTopics
from copycat_executor.driverhost.unit_reads import Fence, PartitionJobs, PlannedUnit, UnitReads, names_of
from copycat_executor.driverhost.unit_work import DeliveredUnits, UnitReport
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.stages import (
    Stage,
    StaleTaskError,
    failing,
)
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.taskhost.assemble_source import fence_producer, guarantee_of
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)

#: Offsets that are asked for at once.
_OFFSETS: Final = 500
_RETRY_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.5


def spark_source_run(
    order: TaskOrder,
    spec: PluginSpec,
    surroundings: HostSurroundings,
    control: TaskControl,
    link: TaskLink,
    *,
    calls: CallLog,
    jobs: PartitionJobs,
    queries: RunningQueries,
) -> TaskFrame:
    """Make the run of a task whose records Spark reads.

    Raises:
        ConfigError: The configuration does not work.
    """
    timing = Timing.parse(order.worker_config)
    loop = SparkSourceLoop(order, spec, surroundings, control, link, calls=calls, jobs=jobs, queries=queries)
    return TaskFrame(
        loop, control, link, timing.last_commit, clock=surroundings.clock, tidy=surroundings.garbage.collect
    )


class SparkSourceLoop:
    """What such a task does in each part of its run (`TaskSteps`)."""

    def __init__(
        self,
        order: TaskOrder,
        spec: PluginSpec,
        surroundings: HostSurroundings,
        control: TaskControl,
        link: TaskLink,
        *,
        calls: CallLog,
        jobs: PartitionJobs,
        queries: RunningQueries | None = None,
        fence: Fence = fence_producer,
    ) -> None:
        """Compose; `fence` ends whoever writes for the task under a number.

        Raises:
            ConfigError: The guarantee cannot be given.
        """
        guarantee = guarantee_of(order)
        refuse_at_most_once(guarantee, spec)
        self._order, self._control, self._link, self._calls = order, control, link, calls
        self._delivered = DeliveredUnits(link, surroundings.clock)
        self._last_commit = Timing.parse(order.worker_config).last_commit
        self._paused = False
        task: SparkSourceTask = spec.make_task()
        self._task = task
        self._questions = ServiceQuestions(link, control, calls)
        self._reading_failed: PartitionFailure | None = None
        self._topics = DriverTopics(
            order,
            surroundings,
            control,
            link,
            calls=calls,
            failed=self._note_failure,
            addresses=jobs.addresses,
        )
        self._line = PartitionLine(link, jobs.addresses) if guarantee is Guarantee.EXACTLY_ONCE else None
        self._queries, self._fence = queries, fence
        self._failed_plugins = failed_plugins_of(surroundings)
        self._stream: StreamRun | None = None
        self._reads = UnitReads(
            order,
            task,
            jobs,
            slots=slots_of(order),
            control=control,
            line=None if self._line is None else self._line.line,
            fence=fence,
            failed_plugins=self._failed_plugins,
        )

    def start(self, *, paused: bool) -> None:
        """Initialize and start the task."""
        self._paused = paused
        with self._calls("start"):
            if self._line is not None:
                self._questions.await_fence()
            config = self._order.task_config
            context = _SparkSourceContext(config, self._questions, self._topics, self._reads, self._calls)
            self._task.initialize(context)
            self._task.start(config)
            stream = self._task.stream()
        if stream is not None:
            self._stream = self._stream_run(stream)

    def set_paused(self, paused: bool) -> None:
        """Begin to read no more units, or again."""
        self._paused = paused

    def go_round(self) -> None:
        """Settle what is read, plan, and begin to read as much as may be read at once."""
        if self._stream is not None:
            if self._reading_failed is not None:
                fail_as(self._reading_failed, "read topics")
            self._stream.go_round(paused=self._paused)
            return
        with failing(Stage.TASK_POLL):
            self._settle_finished()
        if self._paused:
            self._control.wait_for_news(_LOOK_SECONDS)
            return
        if not self._reads.waiting:
            with failing(Stage.TASK_POLL):
                self._plan()
        if not self._reads.begin() and self._reads.waiting:
            self._reads.rest(_LOOK_SECONDS)

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements."""
        self._delivered.settle(settlements)

    def commit_last(self, *, failed: bool) -> None:
        """Let units that are nearly read come to their end, cancel the others, and acknowledge."""
        if self._stream is not None:
            self._stream.end(0.75 * self._last_commit, failed=failed)
        for report in self._reads.end(0.75 * self._last_commit, failed=failed):
            self._delivered.note(report)
        self._delivered.acknowledge()

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._delivered.unsettled

    def report_measures(self, *, now: bool = False) -> None:
        """Report what is new, if a report is due or wanted now."""
        measures = self._delivered.measures
        if now or measures.due(1.0):
            measures.note_state("source-record-active-count", self._reads.under_way)
            self._link.measured(measures.take())

    def closers(self) -> Sequence[Callable[[], None]]:
        """Return what ends the run: the task's `stop`, then its jobs, and who asks from them."""
        line = (self._line.close,) if self._line is not None else ()
        return (self._task.stop, self._reads.close, self._topics.close, *line)

    def cancel(self) -> None:
        """End what is being read; called by another thread."""
        if self._stream is not None:
            self._stream.cancel()
        self._reads.cancel()

    def _stream_run(self, stream: SparkStream) -> StreamRun:
        assert self._queries is not None  # what runs tasks has them
        line = None if self._line is None else self._line.line
        return StreamRun(
            stream,
            StreamWorks(self._order, line, self._failed_plugins),
            self._queries,
            topics=self._topics,
            questions=self._questions,
            delivered=self._delivered,
            control=self._control,
            calls=self._calls,
            fence=self._fence,
        )

    def _note_failure(self, failure: PartitionFailure) -> None:
        self._reading_failed = failure

    def _plan(self) -> None:
        """Ask the task what is to be read, and pass over what was read before."""
        try:
            with self._calls("plan"):
                units = list(self._task.plan())
        except RetriableError as error:
            self._wait("plan", error)
            return
        self._calls.worked("plan")
        for start in range(0, len(units), _OFFSETS):
            some = units[start : start + _OFFSETS]
            offsets = self._questions.offsets([unit.partition for unit in some])
            for unit, offset in zip(some, offsets, strict=True):
                if not self._task.is_done(unit, offset):
                    self._reads.add(PlannedUnit(unit, offset))

    def _settle_finished(self) -> None:
        """Settle what is read by now.

        Raises:
            TaskFailedError: It failed.
            StaleTaskError: A newer generation of the task exists.
        """
        try:
            for units, report in self._reads.finished():
                self._calls.worked("frame")
                self._settle(units, report)
        except RetriableError as error:
            self._wait("frame", error)
        finally:
            if self._reading_failed is not None:
                fail_as(self._reading_failed, "read topics")

    def _wait(self, call: str, error: RetriableError) -> None:
        """Wait before a call is made again that has failed."""
        self._calls.failed(call, error)
        _log.warning("The source is not available now, trying again: %s", error)
        self._control.wait(_RETRY_SECONDS)

    def _settle(self, units: Sequence[SparkUnit], report: UnitReport) -> None:
        """Acknowledge what a partition has delivered.

        Raises:
            TaskFailedError: It failed.
            StaleTaskError: A newer generation of the task exists.
        """
        self._delivered.note(report)
        if report.stale:
            raise StaleTaskError
        if report.failure is not None:
            fail_as(report.failure, f"read {names_of(units)}")
        self._delivered.acknowledge()


class _SparkSourceContext:
    """The context of a task whose records Spark reads (`TopicSourceContext`)."""

    transaction: TransactionContext | None = None
    """None: a unit is a transaction."""

    def __init__(
        self,
        config: Mapping[str, str],
        questions: ServiceQuestions,
        topics: TopicRows,
        reads: UnitReads,
        calls: CallLog,
    ) -> None:
        self._config = config
        self._questions = questions
        self._topics = topics
        self._reads = reads
        self._calls = calls

    @property
    def topics(self) -> TopicRows:
        """Reads topics of the worker's Kafka."""
        return self._topics

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration, placeholders resolved."""
        return self._config

    def offset(self, partition: SourcePartition) -> SourceOffset | None:
        """Ask the offset service for one offset; blocks."""
        return self.offsets([partition])[0]

    def offsets(self, partitions: Sequence[SourcePartition]) -> list[SourceOffset | None]:
        """Ask the offset service for several offsets; blocks until it answers."""
        return self._questions.offsets(partitions)

    def waiting(self, reason: str | None) -> None:
        """Note what the task waits for, or that it waits no longer."""
        self._calls.wait_for(reason)

    def wait(self, seconds: float) -> bool:
        """Wait; units go on being read meanwhile."""
        return self._reads.rest(seconds)
