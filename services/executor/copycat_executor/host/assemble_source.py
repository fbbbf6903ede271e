"""Puts a source task together."""

from __future__ import annotations

from copycat_connect.config import framework_names as names
from copycat_connect.config.framework import SOURCE_CONNECTOR
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import PluginSpec, SourceTask

from copycat_executor.host.admin import GroupTopicCreator, KafkaTopics
from copycat_executor.host.clients import warn_unknown
from copycat_executor.host.compose import build_chain, build_converters
from copycat_executor.host.order import TaskOrder
from copycat_executor.host.producer import KafkaSender
from copycat_executor.host.surroundings import Surroundings
from copycat_executor.pipeline.client_config import admin_config, producer_config
from copycat_executor.pipeline.control import TaskControl
from copycat_executor.pipeline.creation import creation_groups
from copycat_executor.pipeline.link import TaskLink
from copycat_executor.pipeline.progress import SourceProgress
from copycat_executor.pipeline.send_failures import SendFailures
from copycat_executor.pipeline.source import SourceParts, SourceRunner
from copycat_executor.pipeline.source_commits import SourceCommits
from copycat_executor.pipeline.source_path import SourcePath
from copycat_executor.pipeline.timing import Timing
from copycat_executor.pipeline.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.topics import TopicLedger


def source_runner(
    order: TaskOrder, spec: PluginSpec, surroundings: Surroundings, control: TaskControl, link: TaskLink
) -> SourceRunner:
    """Make everything a source task needs.

    Raises:
        CopycatError: The configuration does not work.
    """
    settings = SOURCE_CONNECTOR.parse(order.connector_config)
    task = _new_task(spec)
    tolerance = _tolerance(order, ErrorPolicy.parse(settings), surroundings, control)
    failures = SendFailures(tolerance)
    converters = build_converters(order.worker_config, order.connector_config, surroundings.plugins)
    chain = build_chain(order.connector_config, settings[names.TRANSFORMS], surroundings.plugins, tolerance)
    topics = TopicLedger(_creator(order), tracked=order.worker_says("topic.tracking.enable"))
    progress = SourceProgress()
    tells = type(task).commit_record is not SourceTask.commit_record
    sender = _sender(order, failures, control, report_each=tells)
    path = SourcePath(
        chain=chain,
        converters=converters,
        sender=sender,
        topics=topics,
        progress=progress,
        tolerance=tolerance,
        commit_record=task.commit_record if tells else None,
    )
    parts = SourceParts(
        task=task,
        config=order.task_config,
        path=path,
        sender=sender,
        failures=failures,
        tolerance=tolerance,
        commits=SourceCommits(progress, link),
        topics=topics,
        link=link,
        control=control,
        closers=(chain.close, converters.close, sender.close),
    )
    timing = Timing.parse(order.worker_config)
    return SourceRunner(parts, timing, surroundings.clock, surroundings.garbage.collect)


def _new_task(spec: PluginSpec) -> SourceTask:
    if spec.task_factory is None:
        message = f"{spec.class_name} has no tasks"
        raise ConnectError(message)
    task: SourceTask = spec.task_factory()
    return task


def _sender(
    order: TaskOrder, failures: SendFailures, control: TaskControl, *, report_each: bool
) -> KafkaSender:
    config = producer_config(
        order.worker_config, order.connector_config, f"connector-producer-{order.task_id}"
    )
    warn_unknown("producer", config)
    return KafkaSender(
        config, on_failure=failures.add, draining=lambda: control.stopping, report_each=report_each
    )


def _creator(order: TaskOrder) -> GroupTopicCreator | None:
    groups = creation_groups(order.connector_config) if order.worker_says("topic.creation.enable") else ()
    if not groups:
        return None
    client_id = f"connector-adminclient-{order.task_id}"
    return GroupTopicCreator(
        KafkaTopics(admin_config(order.worker_config, order.connector_config, client_id)), groups
    )


def _tolerance(
    order: TaskOrder, policy: ErrorPolicy, surroundings: Surroundings, control: TaskControl
) -> Tolerance:
    reporters: tuple[Reporter, ...] = ()
    if policy.log:
        describe = (lambda record: f", where source record is = {record!r}") if policy.log_records else None
        reporters = (LogReporter(order.task_id, describe),)
    return Tolerance(
        policy, reporters, wait=control.wait, clock=surroundings.clock, random=surroundings.random
    )
