"""What a partition of Spark does: makes records of a unit's rows and delivers them, offset and all.

The pieces are those of any source task. What they would report to its host is collected and returned.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.config.framework_names import (
    TRANSACTION_BOUNDARY,
    TRANSACTION_INTERVAL,
)
from copycat_connect.data import SourceBatch
from copycat_connect.plugin import SparkSourceTask, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.tracing import flush_tracing

from copycat_executor.driverhost.partition_work import (
    PartitionLink,
    PartitionReport,
    connector_of,
    export_record_spans,
    partition_surroundings,
)
from copycat_executor.driverhost.service_questions import DriverLine, ServiceQuestions
from copycat_executor.pipeline.source.source_offsets import SourceCommits, SourceProgress, partition_key
from copycat_executor.pipeline.source.source_runtime import SourceDelivery, SourceRuntime
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.measures import CommitMeter, Measures
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError, failing
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.taskhost.assemble_source import source_parts
from copycat_executor.taskhost.order import TaskOrder

#: A unit that takes longer is committed in parts, well before brokers give up its transaction.
_TRANSACTION_INTERVAL_MS: Final = "20000"
#: One that may not be committed in parts has this time, less than the 15 minutes that brokers allow.
_WHOLE_TIMEOUT_MS: Final = "600000"
_TIMEOUT_KEY: Final = "producer.override.transaction.timeout.ms"


@dataclass(slots=True)
class UnitReport(PartitionReport):
    """What a partition has to say."""

    offsets: dict[bytes, bytes | None] = field(default_factory=dict)
    """What is durable and to be acknowledged, the newest of each source partition."""
    stale: bool = False
    """Whether it ended early since a newer generation of the task exists."""


class DeliveredUnits:
    """Acknowledges what partitions have delivered, as one thread wants it."""

    def __init__(self, link: TaskLink, clock: Callable[[], float]) -> None:
        self._link = link
        self.measures = Measures(clock)
        self._meter = CommitMeter(self.measures)
        self._collected = SourceProgress()
        self._commits = SourceCommits(self._collected, link)

    def note(self, report: UnitReport) -> None:
        """Note what a partition reports."""
        self._collected.restore({**self._collected.take(), **report.offsets})
        if report.topics:
            self._link.topics_seen(report.topics)
        for measures in report.measures:
            self._link.measured(measures)

    def acknowledge(self) -> None:
        """Acknowledge what was noted, if there is anything."""
        if self._commits.pending:
            self._meter.begin()
            self._meter.acknowledged(self._commits.acknowledge())

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Note the answers to acknowledgements."""
        for settlement in settlements:
            self._meter.settled(settlement.sequence, settlement.error)
            self._commits.settle(settlement)

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return self._commits.unsettled

    @property
    def is_settled(self) -> bool:
        """Whether all that was noted is committed."""
        return not self._commits.unsettled and not self._commits.pending


class _UnitLink(PartitionLink):
    """Collects offsets, too, and asks its driver."""

    def __init__(self, report: UnitReport, line: DriverLine | None) -> None:
        super().__init__(report)
        self._offsets = report.offsets
        self._line = line

    def acknowledge_source(
        self,
        sequence: int,
        offsets: Mapping[bytes, bytes | None],
        expected: Mapping[bytes, bytes | None] | None = None,
    ) -> None:
        """Have the driver acknowledge offsets."""
        del sequence, expected
        self._offsets.update(offsets)

    def source_offsets(self, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Ask the driver; at least once it has asked before it planned this."""
        if self._line is None:
            return super().source_offsets(partitions)
        return self._line.source_offsets(partitions)

    def await_fence(self) -> None:
        """Ask the driver; exactly once only."""
        if self._line is not None:
            self._line.await_fence()


@dataclass(frozen=True, slots=True)
class UnitWork:
    """Reads units, on its way into a partition; called there with the rows (`Work`)."""

    command: bytes
    """The command that started the task (`StartTask`); placeholders are resolved where it is read."""
    units: Sequence[SparkUnit]
    """What is read: a file, for example, and its source partition, or several small ones."""
    offsets: Sequence[SourceOffset | None]
    """Where to begin each, unless the driver is asked."""
    line: DriverLine | None
    """Where the driver is asked, exactly once; None at least once."""
    producer: int
    """The number in the transactional id."""
    failed_plugins: tuple[tuple[str, str], ...]
    """Entry points of plugins not to load, each with the reason."""
    log_level: str
    """Of the root logger."""

    def __call__(self, rows: Iterator[Any]) -> bytes:
        """Deliver the rows, in a process of Spark; returns a `UnitReport`."""
        configure_logging("driver", self.log_level, sys.stderr)
        report = self.report(rows)
        flush_tracing()
        return report

    def report(self, rows: Iterator[Any]) -> bytes:
        """Deliver the rows, in whichever process; returns a `UnitReport`."""
        report = UnitReport()
        try:
            self._deliver(rows, report)
        except TaskFailedError as failed:
            surroundings = partition_surroundings(self.failed_plugins)
            report.fail(failed, connector_of(self._order(), surroundings).failures)
        except StaleTaskError:
            report.stale = True
        partition_surroundings(self.failed_plugins).garbage.collect()
        return pickle.dumps(report)

    def _deliver(self, rows: Iterator[Any], report: UnitReport) -> None:
        with failing(Stage.START):
            order, surroundings = self._order(), partition_surroundings(self.failed_plugins)
            export_record_spans(order)
            link = _UnitLink(report, self.line)
            runtime, delivery = source_parts(
                order,
                connector_of(order, surroundings),
                surroundings,
                TaskControl(),
                link,
                calls=CallLog(surroundings.clock),
                producer=self.producer,
            )
        try:
            with failing(Stage.START):
                delivery.prepare()
                task = cast("SparkSourceTask", runtime.task)
                task.open(order.task_config)
                offsets = self._begin(runtime)
                if all(map(task.is_done, self.units, offsets)):
                    return
            try:
                self._read(task, offsets, rows, runtime, delivery)
            except TaskFailedError:
                delivery.commit_last(failed=True)
                raise
        finally:
            runtime.measures.note("source-record-write", runtime.path.delivered - runtime.failures.lost)
            for close in (runtime.task.stop, *runtime.closers):
                close()
            link.measured(runtime.measures.take())

    def _begin(self, runtime: SourceRuntime) -> Sequence[SourceOffset | None]:
        """Return the offsets at which to begin; exactly once whoever read the units before is fenced now."""
        if self.line is None:
            return self.offsets
        questions = ServiceQuestions(runtime.link, runtime.control, runtime.calls)
        return questions.offsets([unit.partition for unit in self.units])

    def _read(
        self,
        task: SparkSourceTask,
        offsets: Sequence[SourceOffset | None],
        rows: Iterator[Any],
        runtime: SourceRuntime,
        delivery: SourceDelivery,
    ) -> None:
        """Deliver all batches, then commit the end of each unit."""
        measures = runtime.measures
        behind: dict[bytes, SourceOffset | None] = {}
        batches = iter(task.batches(self.units, offsets, rows))
        while True:
            began = measures.clock()
            with failing(Stage.TASK_POLL):
                batch = next(batches, None)
            if batch is None:
                break
            measures.note("poll-batch-time-ms", (measures.clock() - began) * 1000)
            measures.note("source-record-poll", len(batch))
            measures.note("batch-size", len(batch))
            last = batch if isinstance(batch, SourceBatch) else batch[-1]
            behind[partition_key(last.source_partition)] = last.source_offset
            with failing(Stage.KAFKA_PRODUCE):
                delivery.deliver(batch)
                runtime.failures.check()
            with failing(Stage.FLUSH):
                delivery.commit_if_due()
        with failing(Stage.FLUSH):
            for unit, offset in zip(self.units, offsets, strict=True):
                if not task.is_done(unit, offset):
                    end = task.end_of(unit, behind.get(partition_key(unit.partition), offset))
                    runtime.commits.advance(unit.partition, end)
            while runtime.commits.pending:
                delivery.commit_last(failed=False)
                runtime.failures.check()

    def _order(self) -> TaskOrder:
        order = TaskOrder.of(pb.StartTask.FromString(self.command), os.environ)
        given = order.connector_config
        interval = given.get(TRANSACTION_INTERVAL) or _TRANSACTION_INTERVAL_MS
        whole: dict[str, str] = {}
        if any(unit.is_whole for unit in self.units):
            timeout = given.get(_TIMEOUT_KEY) or _WHOLE_TIMEOUT_MS
            whole, interval = {_TIMEOUT_KEY: timeout}, str(int(timeout) - 1)
        bounded = {**given, **whole, TRANSACTION_BOUNDARY: "interval", TRANSACTION_INTERVAL: interval}
        return replace(order, connector_config=bounded)
