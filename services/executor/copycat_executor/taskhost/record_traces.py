"""What follows the records of a task, where its connector asks for that and spans are exported."""

from __future__ import annotations

import time
from collections.abc import Callable

from copycat_connect.config.record_tracing import RecordTracing, TraceMode
from copycat_telemetry.record_spans import PROCESS, SEND, RecordSpans
from copycat_telemetry.tracing import tracing

from copycat_executor.pipeline.sink.sink_traces import SinkTraces
from copycat_executor.pipeline.source.source_traces import SourceTraces
from copycat_executor.taskhost.order import TaskOrder


def source_traces(order: TaskOrder, random: Callable[[], float]) -> SourceTraces | None:
    """Return what follows the records of a source task; None where nothing does.

    Raises:
        ConfigError: `trace.records` or its ratio cannot be one.
    """
    asked = RecordTracing.of(order.connector_config, order.worker_config)
    if asked.mode is TraceMode.OFF or not tracing():
        return None
    ratio = asked.ratio if asked.mode is TraceMode.START else 0.0
    return SourceTraces(RecordSpans(order.connector, order.task, SEND), time.time_ns, random, ratio)


def sink_traces(order: TaskOrder) -> SinkTraces | None:
    """Return what follows the records of a sink task; None where nothing does.

    Raises:
        ConfigError: `trace.records` or its ratio cannot be one.
    """
    asked = RecordTracing.of(order.connector_config, order.worker_config)
    if asked.mode is TraceMode.OFF or not tracing():
        return None
    return SinkTraces(RecordSpans(order.connector, order.task, PROCESS), time.time_ns)
