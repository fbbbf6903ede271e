"""Puts a source task together."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import framework_names as names
from copycat_connect.config.framework import SOURCE_WITH_DEAD_LETTERS
from copycat_connect.config.topic_creation import creation_groups
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_CREATION, TOPIC_TRACKING
from copycat_connect.plugin import Converter, PluginKind, PluginSpec, SourceTask

from copycat_executor.kafka.admin import GroupTopicCreator, KafkaTopics
from copycat_executor.kafka.client_config import admin_config
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.letters import SourceLetters
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.source.encode import Encoder
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.guarded_topics import GuardedTopics
from copycat_executor.pipeline.source.path import SourcePath
from copycat_executor.pipeline.source.send_failures import SendFailures
from copycat_executor.pipeline.source.source_commits import SourceCommits
from copycat_executor.pipeline.source.source_meter import SourceMeter
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.source.source_steps import SourceSteps
from copycat_executor.pipeline.source.traced_path import TracedPath, TracedWriter
from copycat_executor.pipeline.source.unreadable import UnreadableRecords
from copycat_executor.pipeline.source.written_records import WrittenRecords
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.task_run import TaskRun
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicCreator, TopicLedger
from copycat_executor.taskhost.compose import build_chain, build_converters
from copycat_executor.taskhost.dead_letters import dead_letter_queue
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder
from copycat_executor.taskhost.record_traces import source_traces
from copycat_executor.taskhost.source_delivery import (
    DeliveryNeeds,
    DeliveryParts,
    delivery_parts,
    guarantee_of,
)

#: Letters of records that have no bytes yet: with their schemas, whatever converter failed.
_LETTER_CONVERTER: Final = "org.apache.kafka.connect.json.JsonConverter"


def source_run(
    order: TaskOrder,
    spec: PluginSpec,
    surroundings: HostSurroundings,
    control: TaskControl,
    link: TaskLink,
    *,
    calls: CallLog,
) -> TaskRun:
    """Make everything a source task needs.

    Raises:
        CopycatError: The configuration does not work.
    """
    settings = SOURCE_WITH_DEAD_LETTERS.parse(order.connector_config)
    task, measures = _new_task(spec), Measures(surroundings.clock)
    letters, close_letters = dead_letter_queue(
        order, settings, control, lambda: _letters(surroundings), measures
    )
    policy = ErrorPolicy.parse(settings)
    reporters = _reporters(order, policy, letters, measures)
    tolerance = Tolerance(
        policy,
        reporters,
        wait=control.wait,
        measures=measures,
        calls=calls,
        random=surroundings.random,
    )
    failures, timing = SendFailures(tolerance), Timing.parse(order.worker_config)
    converters = build_converters(order.worker_config, order.connector_config, surroundings.plugins)
    aliases = settings[names.TRANSFORMS]
    chain = build_chain(order.connector_config, aliases, surroundings.plugins, tolerance, surroundings)
    wants_records = type(task).commit_record is not SourceTask.commit_record
    watches = type(task).commit_watched is not SourceTask.commit_watched
    written = WrittenRecords(
        task.commit_record if wants_records else None, task.commit_watched if watches else None
    )
    needs = DeliveryNeeds(
        order,
        settings,
        control,
        failures,
        measures,
        timing,
        surroundings,
        report_each=wants_records or watches,
    )
    delivery = delivery_parts(guarantee_of(order), needs)
    calls.obstacle = delivery.sender.obstacle
    topics = TopicLedger(_creator(order, delivery), tracked=order.worker_says(TOPIC_TRACKING))
    traces = source_traces(order, surroundings.random)
    sender = delivery.sender if traces is None else TracedWriter(delivery.sender, traces)
    encoding = EncodingSender(Encoder(converters, tolerance), sender, topics, written)
    unreadable = UnreadableRecords(tolerance, spec.task_class_name or "", delivery.progress, written)
    path = SourcePath(chain, encoding, delivery.progress, written, unreadable)
    parts = SourceParts(
        task=task,
        config=order.task_config,
        path=path if traces is None else TracedPath(path, traces),
        sender=delivery.sender,
        written=written,
        failures=failures,
        measures=measures,
        commits=SourceCommits(delivery.commits, link, delivery.expected),
        topics=topics,
        calls=calls,
        link=link,
        control=control,
        dead_letters=letters,
        closers=(chain.close, converters.close, delivery.sender.close, close_letters),
    )
    meter = SourceMeter(measures, link, parts.progress)
    clock, tidy = surroundings.clock, surroundings.garbage.collect
    steps = SourceSteps(parts, delivery.make(parts, meter.commits), meter, clock)
    return TaskRun(steps, control, link, timing.last_commit, clock=clock, tidy=tidy)


def _new_task(spec: PluginSpec) -> SourceTask:
    task: SourceTask = spec.make_task()
    return task


def _creator(order: TaskOrder, delivery: DeliveryParts) -> TopicCreator | None:
    by_groups = _group_creator(order)
    if delivery.forbidden_topic is None:
        return by_groups
    return GuardedTopics(delivery.forbidden_topic, by_groups)


def _group_creator(order: TaskOrder) -> GroupTopicCreator | None:
    if not order.worker_says(TOPIC_CREATION):
        return None
    strict = order.worker_says(KIP_STRICT)
    groups = creation_groups(order.connector_config, strict=strict)
    if groups is None:
        return None
    config = admin_config(
        order.worker_config,
        order.connector_config,
        f"connector-adminclient-{order.task_id}",
        as_producer=strict,
    )
    return GroupTopicCreator(KafkaTopics(config), groups)


def _letters(surroundings: HostSurroundings) -> SourceLetters:
    spec = surroundings.plugins.find(_LETTER_CONVERTER, (PluginKind.CONVERTER,))
    converter: Converter = spec.make()
    converter.configure({"schemas.enable": "true", "converter.type": "value"}, is_key=False)
    return SourceLetters(lambda topic, schema, value: converter.from_connect(topic, None, schema, value))


def _reporters(
    order: TaskOrder, policy: ErrorPolicy, letters: DeadLetterQueue | None, measures: Measures
) -> tuple[Reporter, ...]:
    reporters: tuple[Reporter, ...] = () if letters is None else (letters,)
    if not policy.log:
        return reporters
    describe = (lambda record: f", where source record is = {record!r}") if policy.log_records else None
    return (*reporters, LogReporter(order.task_id, describe, measures))
