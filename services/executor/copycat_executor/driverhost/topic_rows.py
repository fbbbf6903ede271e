"""Topics as rows of Spark: read in partitions through the pieces of any sink task (`TopicRows`)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch
from copycat_connect.errors import ConnectError, DataError, RetriableError
from copycat_connect.plugin import RecordRange, RowsOfRecords, input_config
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.tracing import flush_tracing

from copycat_executor.driverhost.partition_work import (
    PartitionFailure,
    PartitionReport,
    connector_of,
    export_record_spans,
    failed_plugins_of,
    partition_surroundings,
    root_level,
)
from copycat_executor.driverhost.range_work import read_ranges, settle_reported
from copycat_executor.driverhost.service_questions import DriverLine, PartitionLine
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.kafka.range_receivers import RangeReceiver, TopicBounds
from copycat_executor.pipeline.sink.sink_runtime import failing_traces
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.stages import Stage, TaskFailedError, failing
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.spark.topic_streams import Bounds, topic_stream
from copycat_executor.spark.unit_jobs import map_arrow
from copycat_executor.taskhost.assemble_sink import RecordReading, record_reading
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder


@dataclass(frozen=True, slots=True)
class TopicReads:
    """Reads topics in a process of Spark, to which it travels by pickle (`RangeReads`)."""

    command: bytes
    """The command that started the task (`StartTask`); placeholders are resolved where it is read."""
    line: DriverLine
    """Where the driver hears what was measured, and why it failed."""
    make: RowsOfRecords
    """Makes the rows."""
    failed_plugins: tuple[tuple[str, str], ...]
    """Entry points of plugins not to load, each with the reason."""
    log_level: str
    """Of the root logger."""

    def rows(self, ranges: Sequence[RecordRange]) -> Iterator[Any]:
        """Yield the rows of ranges, each of a partition of its own, as Arrow's record batches.

        What is behind them may be committed once this has come to its end.
        """
        configure_logging("driver", self.log_level, sys.stderr)
        surroundings = partition_surroundings(self.failed_plugins)
        order = TaskOrder.of(pb.StartTask.FromString(self.command), os.environ)
        report, measures = PartitionReport(), Measures(time.monotonic)
        try:
            with failing(Stage.START):
                export_record_spans(order)
                reading = _reading(order, surroundings, TaskControl(), measures, RangeReceiver)
            try:
                yield from self._read(reading, ranges, measures)
            finally:
                for close in reading.closers:
                    close()
        except TaskFailedError as failed:
            report.fail(failed, connector_of(order, surroundings).failures)
            raise
        finally:
            report.measures.append(measures.take())
            self.line.note(report)
            surroundings.garbage.collect()
            flush_tracing()

    def bounds(self, topics: Collection[str]) -> Bounds:
        """Return what says where partitions begin and end; it keeps a connection.

        What fails for good fails the task, too, which Spark would only make try again.
        """
        order = TaskOrder.of(pb.StartTask.FromString(self.command), os.environ)
        surroundings = partition_surroundings(self.failed_plugins)
        reading = _reading(order, surroundings, TaskControl(), Measures(time.monotonic), TopicBounds)
        receiver = cast("TopicBounds", reading.receiver)

        def look(read: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, tuple[int, int]]:
            try:
                return receiver.bounds(topics, read)
            except RetriableError:
                raise
            except ConnectError as error:
                report, failed = PartitionReport(), TaskFailedError(Stage.TASK_POLL)
                failed.__cause__ = error
                report.fail(failed, connector_of(order, surroundings).failures)
                self.line.note(report)
                raise

        return look

    def _read(
        self, reading: RecordReading, ranges: Sequence[RecordRange], measures: Measures
    ) -> Iterator[Any]:
        rows = self.make(read_ranges(reading, ranges, measures), partial(_report, reading))
        while True:
            with failing(Stage.TASK_POLL), failing_traces(reading.traces):
                batch = next(rows, None)
            if batch is None:
                break
            yield batch
        settle_reported(reading, Stage.TASK_POLL)


class DriverTopics:
    """Reads topics for a task, seen from its driver (`TopicRows`)."""

    def __init__(
        self,
        order: TaskOrder,
        surroundings: HostSurroundings,
        control: TaskControl,
        link: TaskLink,
        *,
        calls: CallLog,
        failed: Callable[[PartitionFailure], None],
        addresses: tuple[str, str],
    ) -> None:
        """Connect when something is asked.

        `failed` hears, from another thread, why reading failed; partitions report at these addresses
        (`PartitionLine`).
        """
        self._calls = calls
        self._order, self._surroundings, self._control = order, surroundings, control
        self._link, self._failed, self._addresses = link, failed, addresses
        self._line: PartitionLine | None = None
        self._bounds: RecordReading | None = None

    def bounds(
        self, topics: Collection[str], read: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        """Return where each partition of topics begins and ends; see the port."""
        if self._bounds is None:
            measures = Measures(self._surroundings.clock)
            self._bounds = _reading(self._order, self._surroundings, self._control, measures, TopicBounds)
        found = cast("TopicBounds", self._bounds.receiver).bounds(topics, read)
        missing = set(topics) - {partition.topic for partition in found}
        self._calls.wait_for(f"topic {min(missing)}, which does not exist" if missing else None)
        return found

    def frame(
        self,
        session: Any,  # noqa: ANN401 - PySpark's
        ranges: Sequence[RecordRange],
        columns: Any,  # noqa: ANN401 - PySpark's
        rows: RowsOfRecords,
    ) -> Any:  # noqa: ANN401 - PySpark's
        """Return the rows of ranges as a DataFrame; see the port."""
        return map_arrow(session.range(0, 1, 1, 1), _RangeRows(self._reads(rows), tuple(ranges)), columns)

    def stream(
        self,
        session: Any,  # noqa: ANN401 - PySpark's
        begin: Mapping[TopicPartition, int],
        columns: Any,  # noqa: ANN401 - PySpark's
        rows: RowsOfRecords,
        most: int,
    ) -> Any:  # noqa: ANN401 - PySpark's
        """Return all rows of topics as a streaming DataFrame; see the port."""
        return topic_stream(session, self._reads(rows), begin, columns, most)

    def close(self) -> None:
        """Let go of the connections."""
        if self._line is not None:
            self._line.close()
        if self._bounds is not None:
            for close in self._bounds.closers:
                close()

    def _reads(self, rows: RowsOfRecords) -> TopicReads:
        if self._line is None:
            self._line = PartitionLine(self._link, self._addresses, self._noted)
        return TopicReads(
            self._order.command,
            self._line.line,
            rows,
            failed_plugins_of(self._surroundings),
            root_level(),
        )

    def _noted(self, report: PartitionReport) -> None:
        for measures in report.measures:
            self._link.measured(measures)
        if report.failure is not None:
            self._failed(report.failure)


@dataclass(frozen=True, slots=True)
class _RangeRows:
    """Reads ranges in the one partition of a frame."""

    reads: TopicReads
    ranges: tuple[RecordRange, ...]

    def __call__(self, nothing: Iterator[Any]) -> Iterator[Any]:
        for _ in nothing:
            yield from self.reads.rows(self.ranges)


def _reading(
    order: TaskOrder,
    surroundings: HostSurroundings,
    control: TaskControl,
    measures: Measures,
    receive: Callable[..., KafkaReceiver],
) -> RecordReading:
    given = input_config(order.connector_config)
    return record_reading(
        replace(order, connector_config=given),
        surroundings,
        control,
        measures,
        calls=CallLog(surroundings.clock),
        receive=receive,
        committed_only=True,
    )


def _report(reading: RecordReading, batch: SinkBatch, place: int, error: DataError) -> None:
    """Report a record that is no row.

    Raises:
        DataError: Nobody takes it.
    """
    if reading.errant is None:
        raise error
    reading.errant.report(batch[place], error)
