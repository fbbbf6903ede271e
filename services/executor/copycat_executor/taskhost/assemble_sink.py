"""Puts a sink task together."""

from __future__ import annotations

import logging
from typing import Final, cast

from copycat_connect.cluster import sink_group
from copycat_connect.config import framework_names as names
from copycat_connect.config.framework import SINK_CONNECTOR
from copycat_connect.config.worker_keys import TOPIC_TRACKING
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import PluginSpec, SinkTask

from copycat_executor.kafka.client_config import ClientConfig, consumer_config
from copycat_executor.kafka.clients import warn_unknown
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.pipeline.records.letters import letter_of_message
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.sink.errant import ErrantRecords
from copycat_executor.pipeline.sink.sink_parts import SinkParts
from copycat_executor.pipeline.sink.sink_steps import SinkSteps
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.task_run import TaskRun
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger
from copycat_executor.taskhost.compose import build_chain, build_converters
from copycat_executor.taskhost.dead_letters import dead_letter_queue
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)
_DEFAULT_MAX_POLL_RECORDS: Final = 2000
_TIMESTAMP_TYPE_NAMES: Final = ("NoTimestampType", "CreateTime", "LogAppendTime")


def sink_run(
    order: TaskOrder, spec: PluginSpec, surroundings: HostSurroundings, control: TaskControl, link: TaskLink
) -> TaskRun:
    """Make everything a sink task needs.

    Raises:
        CopycatError: The configuration does not work.
    """
    if spec.task_factory is None:
        message = f"{spec.class_name} has no tasks"
        raise ConnectError(message)
    task: SinkTask = spec.task_factory()
    measures = Measures(surroundings.clock)
    settings = SINK_CONNECTOR.parse(order.connector_config)
    policy = ErrorPolicy.parse(settings)
    letters, close_letters = dead_letter_queue(order, settings, control, lambda: letter_of_message, measures)
    log_reporters = _log_reporters(order, policy, measures)
    tolerance = Tolerance(
        policy,
        log_reporters if letters is None else (letters, *log_reporters),
        wait=control.wait,
        measures=measures,
        random=surroundings.random,
    )
    converters = build_converters(order.worker_config, order.connector_config, surroundings.plugins)
    aliases = settings[names.TRANSFORMS]
    chain = build_chain(order.connector_config, aliases, surroundings.plugins, tolerance, surroundings)
    topics = TopicLedger(tracked=order.worker_says(TOPIC_TRACKING))
    reports = letters is not None or policy.log
    decoder = Decoder(converters, chain, tolerance, topics, traced=reports)
    config = _consumer_config(order)
    receiver = KafkaReceiver(config, lambda: measures.note("sink-consumer-replaced"))
    parts = SinkParts(
        task=task,
        config=order.task_config,
        partitions=order.partitions,
        receiver=receiver,
        decoder=decoder,
        measures=measures,
        topics=topics,
        link=link,
        control=control,
        max_records=int(config.java.get("max.poll.records", _DEFAULT_MAX_POLL_RECORDS)),
        dead_letters=letters,
        errant=ErrantRecords(tolerance, converters, letters, log_reporters) if reports else None,
        closers=(decoder.close, receiver.close, close_letters),
    )
    timing = Timing.parse(order.worker_config)
    clock, tidy = surroundings.clock, surroundings.garbage.collect
    return TaskRun(
        SinkSteps(parts, timing, clock, tidy), control, link, timing.last_commit, clock=clock, tidy=tidy
    )


def _consumer_config(order: TaskOrder) -> ClientConfig:
    config = consumer_config(
        order.worker_config,
        order.connector_config,
        f"connector-consumer-{order.task_id}",
        sink_group(order.connector, order.connector_config),
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
