"""Puts a source task together."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import framework_names as names
from copycat_connect.config.framework import SOURCE_WITH_DEAD_LETTERS
from copycat_connect.config.topic_creation import creation_groups
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_CREATION, TOPIC_TRACKING
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import Converter, PluginKind, PluginSpec, SourceTask

from copycat_executor.kafka.admin import GroupTopicCreator, KafkaTopics
from copycat_executor.kafka.client_config import admin_config, producer_config
from copycat_executor.kafka.clients import warn_unknown
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.letters import SourceLetters
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.source.encode import Encoder
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.path import SourcePath
from copycat_executor.pipeline.source.progress import SourceProgress
from copycat_executor.pipeline.source.send_failures import SendFailures
from copycat_executor.pipeline.source.source_commits import SourceCommits
from copycat_executor.pipeline.source.source_parts import SourceParts
from copycat_executor.pipeline.source.source_steps import SourceSteps
from copycat_executor.pipeline.source.written_records import WrittenRecords
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

#: Letters of records that have no bytes yet: with their schemas, whatever converter failed.
_LETTER_CONVERTER: Final = "org.apache.kafka.connect.json.JsonConverter"


def source_run(
    order: TaskOrder, spec: PluginSpec, surroundings: HostSurroundings, control: TaskControl, link: TaskLink
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
    tolerance = Tolerance(policy, reporters, wait=control.wait, measures=measures, random=surroundings.random)
    failures = SendFailures(tolerance)
    converters = build_converters(order.worker_config, order.connector_config, surroundings.plugins)
    aliases = settings[names.TRANSFORMS]
    chain = build_chain(order.connector_config, aliases, surroundings.plugins, tolerance, surroundings)
    topics = TopicLedger(_creator(order), tracked=order.worker_says(TOPIC_TRACKING))
    progress = SourceProgress()
    wants_records = type(task).commit_record is not SourceTask.commit_record
    written = WrittenRecords(task.commit_record if wants_records else None)
    sender = _sender(order, failures, control, measures, report_each=written.wanted)
    encoding = EncodingSender(Encoder(converters, tolerance), sender, topics, written)
    parts = SourceParts(
        task=task,
        config=order.task_config,
        path=SourcePath(chain, encoding, progress, written),
        sender=sender,
        written=written,
        failures=failures,
        measures=measures,
        commits=SourceCommits(progress, link),
        topics=topics,
        link=link,
        control=control,
        dead_letters=letters,
        closers=(chain.close, converters.close, sender.close, close_letters),
    )
    timing = Timing.parse(order.worker_config)
    clock, tidy = surroundings.clock, surroundings.garbage.collect
    return TaskRun(
        SourceSteps(parts, timing, clock, tidy), control, link, timing.last_commit, clock=clock, tidy=tidy
    )


def _new_task(spec: PluginSpec) -> SourceTask:
    if spec.task_factory is None:
        message = f"{spec.class_name} has no tasks"
        raise ConnectError(message)
    task: SourceTask = spec.task_factory()
    return task


def _sender(
    order: TaskOrder, failures: SendFailures, control: TaskControl, measures: Measures, *, report_each: bool
) -> KafkaSender:
    config = producer_config(
        order.worker_config, order.connector_config, f"connector-producer-{order.task_id}"
    )
    warn_unknown("producer", config)
    return KafkaSender(
        config,
        on_failure=failures.add,
        draining=lambda: control.stopping,
        report_each=report_each,
        replaced=lambda: measures.note("source-producer-replaced"),
    )


def _creator(order: TaskOrder) -> GroupTopicCreator | None:
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
    converter: Converter = spec.factory()
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
