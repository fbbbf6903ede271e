"""Makes a sink task with all it runs with."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from copycat_connect.cluster import sink_group
from copycat_connect.config import framework_names as names
from copycat_connect.config.delivery import Guarantee, guarantee_of_sink, transactional_id
from copycat_connect.config.framework import SINK_CONNECTOR
from copycat_connect.config.record_tracing import RecordTracing, TraceMode
from copycat_connect.config.worker_keys import TOPIC_TRACKING
from copycat_connect.plugin import PluginSpec, SinkTask
from copycat_telemetry.record_spans import PROCESS, RecordSpans
from copycat_telemetry.tracing import tracing

from copycat_executor.kafka.client_config import ClientConfig, consumer_config
from copycat_executor.kafka.client_statistics import ConsumerStatistics
from copycat_executor.kafka.connections import warn_unknown
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue, letter_of_message
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.sink.errant_records import ErrantRecords
from copycat_executor.pipeline.sink.sink_delivery import SinkDelivery
from copycat_executor.pipeline.sink.sink_guarantees import AtLeastOnceSink, AtMostOnceSink, ExactlyOnceSink
from copycat_executor.pipeline.sink.sink_loop import SinkLoop
from copycat_executor.pipeline.sink.sink_runtime import SinkRuntime, SinkTraces
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_frame import TaskFrame, TaskSteps
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger
from copycat_executor.taskhost.compose import build_chain, build_converters
from copycat_executor.taskhost.dead_letters import dead_letter_queue
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)
_DEFAULT_MAX_POLL_RECORDS: Final = 2000
_DELIVERIES: Final[dict[Guarantee, type[SinkDelivery]]] = {
    Guarantee.AT_LEAST_ONCE: AtLeastOnceSink,
    Guarantee.AT_MOST_ONCE: AtMostOnceSink,
    Guarantee.EXACTLY_ONCE: ExactlyOnceSink,
}
#: Stands in transactional ids for the `group.id` that a standalone worker has not.
_STANDALONE_GROUP: Final = "standalone"
_TIMESTAMP_TYPE_NAMES: Final = ("NoTimestampType", "CreateTime", "LogAppendTime")


def sink_run(
    order: TaskOrder,
    spec: PluginSpec,
    surroundings: HostSurroundings,
    control: TaskControl,
    link: TaskLink,
    *,
    calls: CallLog,
) -> TaskFrame:
    """Make everything a sink task needs.

    Raises:
        CopycatError: The configuration does not work.
    """
    runtime = sink_runtime(order, spec, surroundings, control, link, calls=calls)
    return sink_frame(SinkLoop(runtime, sink_delivery(order, runtime)), runtime)


def sink_frame(steps: TaskSteps, runtime: SinkRuntime) -> TaskFrame:
    """Make the run of a sink task."""
    return TaskFrame(
        steps,
        runtime.control,
        runtime.link,
        runtime.timing.last_commit,
        clock=runtime.clock,
        tidy=runtime.collect_garbage,
    )


def sink_delivery(order: TaskOrder, runtime: SinkRuntime) -> SinkDelivery:
    """Make what commits a sink task's positions, as its guarantee wants it."""
    return _DELIVERIES[guarantee_of_sink(order.connector_config)](runtime)


def sink_runtime(
    order: TaskOrder,
    spec: PluginSpec,
    surroundings: HostSurroundings,
    control: TaskControl,
    link: TaskLink,
    *,
    calls: CallLog,
    receive: Callable[..., KafkaReceiver] = KafkaReceiver,
) -> SinkRuntime:
    """Make what a sink task runs with; `receive` makes its consumer, as the class `KafkaReceiver` does.

    Raises:
        CopycatError: The configuration does not work.
    """
    task: SinkTask = spec.make_task()
    measures = Measures(surroundings.clock)
    exactly_once = guarantee_of_sink(order.connector_config) is Guarantee.EXACTLY_ONCE
    reading = record_reading(
        order, surroundings, control, measures, calls=calls, receive=receive, committed_only=exactly_once
    )
    return SinkRuntime(
        task=task,
        config=order.task_config,
        partitions=order.partitions,
        group_id=sink_group(order.connector, order.connector_config),
        transactional_id=_transactional_id(order) if exactly_once else None,
        receiver=reading.receiver,
        decoder=reading.decoder,
        measures=measures,
        topics=reading.topics,
        calls=calls,
        link=link,
        control=control,
        timing=Timing.parse(order.worker_config),
        clock=surroundings.clock,
        collect_garbage=surroundings.garbage.collect,
        max_records=reading.max_records,
        dead_letters=reading.dead_letters,
        traces=reading.traces,
        errant=reading.errant,
        closers=reading.closers,
    )


@dataclass(frozen=True, slots=True)
class RecordReading:
    """What reads records of topics, and what becomes of those that cannot be read."""

    receiver: KafkaReceiver
    """The consumer."""
    decoder: Decoder
    """Converts and transforms."""
    topics: TopicLedger
    """The topics that were met."""
    max_records: int
    """How many records a batch has at most (`max.poll.records`)."""
    dead_letters: DeadLetterQueue | None
    """The queue, if there is one."""
    errant: ErrantRecords | None
    """Takes records that cannot be written; None where nobody wants them."""
    traces: SinkTraces | None
    """Follows the records that belong to a trace; None where they are not followed."""
    closers: tuple[Callable[[], None], ...]
    """What ends it."""


def record_reading(
    order: TaskOrder,
    surroundings: HostSurroundings,
    control: TaskControl,
    measures: Measures,
    *,
    calls: CallLog,
    receive: Callable[..., KafkaReceiver],
    committed_only: bool,
) -> RecordReading:
    """Make what reads the records of a task whose configuration is that of a sink.

    `receive` makes its consumer, as the class `KafkaReceiver` does; `committed_only` says whether that leaves
    out what is in open or aborted transactions, unless the configuration says so.

    Raises:
        CopycatError: The configuration does not work.
    """
    settings = SINK_CONNECTOR.parse(order.connector_config)
    policy = ErrorPolicy.parse(settings)
    letters, close_letters = dead_letter_queue(order, settings, control, lambda: letter_of_message, measures)
    log_reporters = _log_reporters(order, policy, measures)
    tolerance = Tolerance(
        policy,
        log_reporters if letters is None else (letters, *log_reporters),
        wait=control.wait,
        measures=measures,
        calls=calls,
        random=surroundings.random,
    )
    converters = build_converters(order.worker_config, order.connector_config, surroundings.plugins)
    aliases = settings[names.TRANSFORMS]
    chain = build_chain(order.connector_config, aliases, surroundings.plugins, tolerance, surroundings)
    topics = TopicLedger(tracked=order.worker_says(TOPIC_TRACKING))
    reports = letters is not None or policy.log
    decoder = Decoder(converters, chain, tolerance, topics, traced=reports)
    config = _consumer_config(order, committed_only=committed_only)
    statistics = ConsumerStatistics(
        measures,
        order.client_metric_interval,
        committed_only=config.properties["isolation.level"] == "read_committed",
    )
    receiver = receive(config, lambda: measures.note("sink-consumer-replaced"), statistics)
    return RecordReading(
        receiver,
        decoder,
        topics,
        int(config.java.get("max.poll.records", _DEFAULT_MAX_POLL_RECORDS)),
        letters,
        ErrantRecords(tolerance, converters, letters, log_reporters) if reports else None,
        _sink_traces(order),
        (decoder.close, receiver.close, close_letters),
    )


def _sink_traces(order: TaskOrder) -> SinkTraces | None:
    """Return what follows the task's records with spans; None where nothing does.

    Raises:
        ConfigError: `trace.records` or its ratio has no valid value.
    """
    asked = RecordTracing.of(order.connector_config, order.worker_config)
    if asked.mode is TraceMode.OFF or not tracing():
        return None
    return SinkTraces(RecordSpans(order.connector, order.task, PROCESS), time.time_ns)


def _transactional_id(order: TaskOrder) -> str:
    group = order.worker_config.get("group.id") or _STANDALONE_GROUP
    return transactional_id(group, order.connector, order.task)


def _consumer_config(order: TaskOrder, *, committed_only: bool) -> ClientConfig:
    config = consumer_config(
        order.worker_config,
        order.connector_config,
        f"connector-consumer-{order.task_id}",
        sink_group(order.connector, order.connector_config),
        committed_only=committed_only,
    )
    warn_unknown("consumer", config)
    return config


def _log_reporters(order: TaskOrder, policy: ErrorPolicy, measures: Measures) -> tuple[Reporter, ...]:
    if not policy.log:
        return ()
    return (LogReporter(order.task_id, _describe if policy.log_records else None, measures),)


def _describe(original: object) -> str:
    message = cast("KafkaMessage", original)
    kind, stamp = message.timestamp()
    when = f", timestamp={stamp}, timestampType={_TIMESTAMP_TYPE_NAMES[kind]}" if kind else ""
    place = f"topic='{message.topic()}', partition={message.partition()}, offset={message.offset()}"
    return f", where consumed record is {{{place}{when}}}"
