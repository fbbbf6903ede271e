"""Puts a sink task together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, cast

from copycat_connect.config import framework_names as names
from copycat_connect.config.framework import SINK_CONNECTOR
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import PluginSpec, SinkTask

from copycat_executor.host.admin import KafkaTopics, ensure_dead_letter_topic
from copycat_executor.host.clients import warn_unknown
from copycat_executor.host.compose import build_chain, build_converters
from copycat_executor.host.consumer import KafkaReceiver
from copycat_executor.host.order import TaskOrder
from copycat_executor.host.producer import KafkaSender
from copycat_executor.host.surroundings import Surroundings
from copycat_executor.pipeline.client_config import (
    ClientConfig,
    admin_config,
    consumer_config,
    producer_config,
)
from copycat_executor.pipeline.control import TaskControl
from copycat_executor.pipeline.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.decode import Decoder
from copycat_executor.pipeline.errant import ErrantRecords
from copycat_executor.pipeline.link import TaskLink
from copycat_executor.pipeline.receiver import KafkaMessage
from copycat_executor.pipeline.sink import SinkParts, SinkRunner
from copycat_executor.pipeline.timing import Timing
from copycat_executor.pipeline.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.topics import TopicLedger

_log = logging.getLogger(__name__)
_MAX_RECORDS: Final = 2000
_KINDS: Final = ("NoTimestampType", "CreateTime", "LogAppendTime")


def sink_runner(
    order: TaskOrder, spec: PluginSpec, surroundings: Surroundings, control: TaskControl, link: TaskLink
) -> SinkRunner:
    """Make everything a sink task needs.

    Raises:
        CopycatError: The configuration does not work.
    """
    if spec.task_factory is None:
        message = f"{spec.class_name} has no tasks"
        raise ConnectError(message)
    task: SinkTask = spec.task_factory()
    settings = SINK_CONNECTOR.parse(order.connector_config)
    policy = ErrorPolicy.parse(settings)
    letters, close_letters = _dead_letters(order, settings, control)
    log_reporters = _log_reporters(order, policy)
    tolerance = Tolerance(
        policy,
        log_reporters if letters is None else (letters, *log_reporters),
        wait=control.wait,
        clock=surroundings.clock,
        random=surroundings.random,
    )
    converters = build_converters(order.worker_config, order.connector_config, surroundings.plugins)
    chain = build_chain(order.connector_config, settings[names.TRANSFORMS], surroundings.plugins, tolerance)
    topics = TopicLedger(tracked=order.worker_says("topic.tracking.enable"))
    reports = letters is not None or policy.log
    decoder = Decoder(converters, chain, tolerance, topics, traced=reports)
    config = _consumer_config(order)
    receiver = KafkaReceiver(config)
    parts = SinkParts(
        task=task,
        config=order.task_config,
        partitions=order.partitions,
        receiver=receiver,
        decoder=decoder,
        tolerance=tolerance,
        topics=topics,
        link=link,
        control=control,
        max_records=int(config.java.get("max.poll.records", _MAX_RECORDS)),
        dead_letters=letters,
        errant=ErrantRecords(tolerance, converters, letters, log_reporters) if reports else None,
        closers=(decoder.close, receiver.close, close_letters),
    )
    timing = Timing.parse(order.worker_config)
    return SinkRunner(parts, timing, surroundings.clock, surroundings.garbage.collect)


def _consumer_config(order: TaskOrder) -> ClientConfig:
    config = consumer_config(
        order.worker_config,
        order.connector_config,
        f"connector-consumer-{order.task_id}",
        f"connect-{order.connector}",
    )
    warn_unknown("consumer", config)
    return config


def _log_reporters(order: TaskOrder, policy: ErrorPolicy) -> tuple[Reporter, ...]:
    if not policy.log:
        return ()
    return (LogReporter(order.task_id, _describe if policy.log_records else None),)


def _describe(original: object) -> str:
    message = cast("KafkaMessage", original)
    kind, stamp = message.timestamp()
    when = f", timestamp={stamp}, timestampType={_KINDS[kind]}" if kind else ""
    place = f"topic='{message.topic()}', partition={message.partition()}, offset={message.offset()}"
    return f", where consumed record is {{{place}{when}}}"


def _dead_letters(
    order: TaskOrder, settings: dict[str, ConfigSetting], control: TaskControl
) -> tuple[DeadLetterQueue | None, Callable[[], None]]:
    """Make the dead letter queue and what closes it."""
    topic: str = settings[names.DLQ_TOPIC]
    if not topic:
        return None, _nothing
    admin = admin_config(
        order.worker_config, order.connector_config, f"connector-dlq-adminclient-{order.task_id}"
    )
    ensure_dead_letter_topic(KafkaTopics(admin), topic, settings[names.DLQ_REPLICATION_FACTOR])
    config = producer_config(
        order.worker_config, order.connector_config, f"connector-dlq-producer-{order.task_id}"
    )
    warn_unknown("dead letter producer", config)
    # Failures come back to the queue itself, record by record.
    sender = KafkaSender(
        config, on_failure=lambda *_: None, draining=lambda: control.stopping, report_each=True
    )
    queue = DeadLetterQueue(
        sender, topic, order.connector, order.task, context_headers=settings[names.DLQ_CONTEXT_HEADERS]
    )
    return queue, sender.close


def _nothing() -> None:
    """Nothing is to be closed."""
