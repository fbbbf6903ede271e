"""What a partition of Spark does for a sink: reads ranges of records and has the connector's task write them.

The pieces are those of any sink task. What they would report to its host is collected and returned, with what
the task says it wrote: the driver makes that count.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.data.batches import SinkBatch
from copycat_connect.plugin import RecordRange, SparkSinkTask
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.tracing import flush_tracing

from copycat_executor.driverhost.partition_work import (
    PartitionLink,
    PartitionReport,
    connector_of,
    export_record_spans,
    partition_surroundings,
)
from copycat_executor.kafka.range_receivers import RangeReceiver
from copycat_executor.pipeline.sink.sink_loop import RunningSinkContext
from copycat_executor.pipeline.sink.sink_runtime import SinkRuntime, failing_traces
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.stages import Stage, TaskFailedError, failing
from copycat_executor.taskhost.assemble_sink import RecordReading, sink_runtime
from copycat_executor.taskhost.order import TaskOrder

#: For dead letters to be written; the range is written again by the task that comes next.
_LETTERS_TIMEOUT_SECONDS: Final = 30.0


@dataclass(slots=True)
class RangeReport(PartitionReport):
    """What a partition has to say."""

    written: Any = None
    """What the task's `write` returned."""


@dataclass(frozen=True, slots=True)
class RangeWork:
    """Writes ranges of records, on its way into a partition (`ShareWork`)."""

    command: bytes
    """The command that started the task (`StartTask`); placeholders are resolved where it is read."""
    ranges: Sequence[RecordRange]
    """What is written, in this order."""
    failed_plugins: tuple[tuple[str, str], ...]
    """Entry points of plugins not to load, each with the reason."""
    log_level: str
    """Of the root logger."""

    def __call__(self) -> bytes:
        """Write, in a process of Spark; returns a `RangeReport`."""
        configure_logging("driver", self.log_level, sys.stderr)
        report = RangeReport()
        surroundings = partition_surroundings(self.failed_plugins)
        order = TaskOrder.of(pb.StartTask.FromString(self.command), os.environ)
        spec = connector_of(order, surroundings)
        try:
            with failing(Stage.START):
                export_record_spans(order)
                runtime = sink_runtime(
                    order,
                    spec,
                    surroundings,
                    TaskControl(),
                    PartitionLink(report),
                    calls=CallLog(time.monotonic),
                    receive=RangeReceiver,
                )
            try:
                report.written = self._write(runtime)
            finally:
                for close in (runtime.task.stop, *runtime.closers):
                    close()
                runtime.link.measured(runtime.measures.take())
        except TaskFailedError as failed:
            report.fail(failed, spec.failures)
        surroundings.garbage.collect()
        flush_tracing()
        return pickle.dumps(report)

    def _write(self, runtime: SinkRuntime) -> Any:  # noqa: ANN401 - the plugin's own
        task = cast("SparkSinkTask", runtime.task)
        with failing(Stage.START):
            task.initialize(RunningSinkContext(runtime))
            task.prepare(runtime.config)
        with failing(Stage.TASK_PUT), failing_traces(runtime.traces):
            written = task.write(self._batches(runtime))
        settle_reported(runtime, Stage.TASK_PUT)
        runtime.topics.report(runtime.link)
        return written

    def _batches(self, runtime: SinkRuntime) -> Iterator[SinkBatch]:
        for batch in read_ranges(runtime, self.ranges, runtime.measures):
            yield batch
            runtime.measures.note("sink-record-send", len(batch))


def read_ranges(
    reading: SinkRuntime | RecordReading, ranges: Sequence[RecordRange], measures: Measures
) -> Iterator[SinkBatch]:
    """Yield the records of ranges, each of a partition of its own, in batches that are not empty.

    Spans of a batch end when the next one is asked for.
    """
    traces = reading.traces
    reading.decoder.expect(each.partition.topic for each in ranges)
    messages = cast("RangeReceiver", reading.receiver).messages(ranges, reading.max_records)
    while True:
        with failing(Stage.KAFKA_CONSUME):
            read = next(messages, None)
        if read is None:
            return
        if traces is not None:
            traces.read(read)
        measures.note("sink-record-read", len(read))
        batch = reading.decoder.batch(read)
        if len(batch):
            yield batch
        if traces is not None:
            traces.put()


def settle_reported(reading: SinkRuntime | RecordReading, stage: Stage) -> None:
    """Wait until the records that were reported are safe, before what is behind them may be committed.

    Raises:
        TaskFailedError: They are not; `stage` is that of a report that exceeds what is tolerated.
    """
    with failing(stage):
        if reading.errant is not None:
            reading.errant.check()
            reading.errant.settle()
    letters = reading.dead_letters
    with failing(Stage.FLUSH):
        if letters is not None and not letters.settle(_LETTERS_TIMEOUT_SECONDS, time.monotonic):
            raise TimeoutError("The dead letter queue does not answer")
