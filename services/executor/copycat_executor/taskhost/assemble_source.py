"""Makes a source task with all it runs with."""

from __future__ import annotations

import time
from typing import Final

from copycat_connect.config import framework_names as names
from copycat_connect.config.delivery import (
    ExactlyOnceSources,
    Guarantee,
    guarantee_of_source,
    transactional_id,
)
from copycat_connect.config.framework import SOURCE_WITH_DEAD_LETTERS
from copycat_connect.config.framework_names import EXACTLY_ONCE_SUPPORT
from copycat_connect.config.offsets_store import is_the_workers, primary_topic
from copycat_connect.config.record_tracing import RecordTracing, TraceMode
from copycat_connect.config.topic_creation import creation_groups
from copycat_connect.config.worker_keys import EXACTLY_ONCE, KIP_STRICT, TOPIC_CREATION, TOPIC_TRACKING
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import Converter, PluginKind, PluginSpec, SourceTask
from copycat_telemetry.record_spans import SEND, RecordSpans
from copycat_telemetry.tracing import tracing

from copycat_executor.kafka.admin import GroupTopicCreator, KafkaTopics
from copycat_executor.kafka.client_config import (
    TRANSACTION_TIMEOUT,
    ClientConfig,
    admin_config,
    idempotent_config,
    producer_config,
    transactional_config,
)
from copycat_executor.kafka.client_statistics import ProducerStatistics
from copycat_executor.kafka.connections import warn_unknown
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.kafka.transactional_producer import KafkaTransactionalSender
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue, SourceLetters
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, LogReporter, Reporter, Tolerance
from copycat_executor.pipeline.source.at_least_once import AtLeastOnce
from copycat_executor.pipeline.source.at_most_once import AtMostOnce
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.exactly_once import ExactlyOnce, GuardedTopics
from copycat_executor.pipeline.source.sent_records import SendFailures, WrittenRecords
from copycat_executor.pipeline.source.source_loop import SourceLoop
from copycat_executor.pipeline.source.source_offsets import (
    ExpectedOffsets,
    SourceCommits,
    SourceProgress,
    UntrackedProgress,
)
from copycat_executor.pipeline.source.source_path import SourcePath
from copycat_executor.pipeline.source.source_runtime import SourceDelivery, SourceRuntime
from copycat_executor.pipeline.source.source_tracing import SourceTraces, TracedPath, TracedWriter
from copycat_executor.pipeline.source.transactions import Boundary, TransactionOffsets
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger
from copycat_executor.taskhost.compose import build_chain, build_converters
from copycat_executor.taskhost.dead_letters import dead_letter_queue
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

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
) -> TaskFrame:
    """Make everything a source task needs.

    Raises:
        CopycatError: The configuration does not work.
    """
    runtime, delivery = source_parts(order, spec, surroundings, control, link, calls=calls)
    return TaskFrame(
        SourceLoop(runtime, delivery),
        control,
        link,
        runtime.timing.last_commit,
        clock=runtime.clock,
        tidy=runtime.collect_garbage,
    )


def source_parts(
    order: TaskOrder,
    spec: PluginSpec,
    surroundings: HostSurroundings,
    control: TaskControl,
    link: TaskLink,
    *,
    calls: CallLog,
    producer: int | None = None,
) -> tuple[SourceRuntime, SourceDelivery]:
    """Make what delivers the records of a source task, and its guarantee.

    `producer` is the number in the transactional id, where that is not the task's: who writes for a task in
    several places at once has a producer for each.

    Raises:
        CopycatError: The configuration does not work.
    """
    number = order.task if producer is None else producer
    return _SourceAssembly(order, spec, surroundings, control, link, calls=calls, producer=number).assemble()


def fence_producer(order: TaskOrder, producer: int, control: TaskControl) -> None:
    """Fence whoever writes for a task under the transactional id of this number, and end its transaction.

    Raises:
        ConnectError: The brokers refuse.
        DrainedError: The task must end.
    """
    sender = KafkaTransactionalSender(
        _transactional(order, producer),
        primary_topic(order.worker_config, order.connector_config).name,
        on_failure=lambda *_: None,
        draining=lambda: control.stopping,
        dropped=lambda: control.dropped,
    )
    try:
        sender.prepare()
    finally:
        sender.close()


def _transactional(order: TaskOrder, producer: int) -> ClientConfig:
    worker = order.worker_config
    name = transactional_id(worker["group.id"] or "", order.connector, producer)
    return transactional_config(worker, order.connector_config, _client_id(order), name)


def _client_id(order: TaskOrder) -> str:
    return f"connector-producer-{order.task_id}"


class _SourceAssembly:
    """Makes what every source task has, then what its guarantee of delivery adds."""

    def __init__(
        self,
        order: TaskOrder,
        spec: PluginSpec,
        surroundings: HostSurroundings,
        control: TaskControl,
        link: TaskLink,
        *,
        calls: CallLog,
        producer: int,
    ) -> None:
        self._order, self._producer = order, producer
        self._surroundings = surroundings
        self._control = control
        self._link = link
        self._calls = calls
        self._settings = settings = SOURCE_WITH_DEAD_LETTERS.parse(order.connector_config)
        self._task_class = spec.task_class_name or ""
        self._task, self._measures = task, measures = _new_task(spec), Measures(surroundings.clock)
        self._letters, self._close_letters = dead_letter_queue(
            order, settings, control, lambda: _letters(surroundings), measures
        )
        policy = ErrorPolicy.parse(settings)
        self._tolerance = Tolerance(
            policy,
            _reporters(order, policy, self._letters, measures),
            wait=control.wait,
            measures=measures,
            calls=calls,
            random=surroundings.random,
        )
        self._failures, self._timing = SendFailures(self._tolerance), Timing.parse(order.worker_config)
        plugins = surroundings.plugins
        self._converters = build_converters(order.worker_config, order.connector_config, plugins)
        aliases = settings[names.TRANSFORMS]
        self._chain = build_chain(order.connector_config, aliases, plugins, self._tolerance, surroundings)
        wants_records = type(task).commit_record is not SourceTask.commit_record
        watches = type(task).commit_watched is not SourceTask.commit_watched
        self._report_each = wants_records or watches
        self._written = WrittenRecords(
            task.commit_record if wants_records else None, task.commit_watched if watches else None
        )

    def assemble(self) -> tuple[SourceRuntime, SourceDelivery]:
        """Make the producer, the runtime around it, and the guarantee.

        Raises:
            ConfigError: The producer's settings do not allow the guarantee.
        """
        match guarantee_of(self._order):
            case Guarantee.EXACTLY_ONCE:
                return self._exactly_once()
            case Guarantee.AT_MOST_ONCE:
                return self._at_most_once()
            case Guarantee.AT_LEAST_ONCE:
                return self._at_least_once()

    def _at_least_once(self) -> tuple[SourceRuntime, SourceDelivery]:
        order, progress = self._order, SourceProgress()
        config = producer_config(order.worker_config, order.connector_config, _client_id(order))
        sender = self._sender(config, repeats=True)
        runtime = self._runtime(sender, progress, SourceCommits(progress, self._link))
        return runtime, AtLeastOnce(runtime)

    def _at_most_once(self) -> tuple[SourceRuntime, SourceDelivery]:
        order = self._order
        config = idempotent_config(order.worker_config, order.connector_config, _client_id(order))
        sender = self._sender(config, repeats=False)
        commits = SourceCommits(SourceProgress(), self._link, ExpectedOffsets())
        runtime = self._runtime(sender, UntrackedProgress(), commits)
        return runtime, AtMostOnce(runtime)

    def _exactly_once(self) -> tuple[SourceRuntime, SourceDelivery]:
        order, progress, control = self._order, SourceProgress(), self._control
        worker, connector = order.worker_config, order.connector_config
        config = _transactional(order, self._producer)
        warn_unknown("producer", config)
        timeout = int(config.properties[TRANSACTION_TIMEOUT]) / 1000
        boundary = Boundary.of(self._settings, self._timing.commit_interval, timeout)
        home = primary_topic(worker, connector)
        sender = KafkaTransactionalSender(
            config,
            home.name,
            on_failure=self._failures.fatal,
            draining=lambda: control.stopping,
            dropped=lambda: control.dropped,
            report_each=self._report_each,
            statistics=self._statistics(),
        )
        commits = SourceCommits(progress, self._link)
        runtime = self._runtime(sender, progress, commits, forbidden_topic=home.name)
        copied = not is_the_workers(home, worker)
        offsets = TransactionOffsets(order.connector, home.name, self._link, copied=copied)
        return runtime, ExactlyOnce(runtime, sender, offsets, boundary)

    def _statistics(self) -> ProducerStatistics:
        return ProducerStatistics(self._measures, self._order.client_metric_interval)

    def _sender(self, config: ClientConfig, *, repeats: bool) -> KafkaSender:
        warn_unknown("producer", config)
        return KafkaSender(
            config,
            on_failure=self._failures.add,
            draining=lambda: self._control.stopping,
            report_each=self._report_each,
            statistics=self._statistics(),
            replaced=lambda: self._measures.note("source-producer-replaced"),
            repeats=repeats,
        )

    def _runtime(
        self,
        sender: KafkaSender | KafkaTransactionalSender,
        progress: SourceProgress,
        commits: SourceCommits,
        *,
        forbidden_topic: str | None = None,
    ) -> SourceRuntime:
        """Put the runtime together; records may not go to the forbidden topic."""
        order, surroundings = self._order, self._surroundings
        self._calls.obstacle = sender.obstacle
        creator = _group_creator(order)
        topics = TopicLedger(
            creator if forbidden_topic is None else GuardedTopics(forbidden_topic, creator),
            tracked=order.worker_says(TOPIC_TRACKING),
        )
        traces = _source_traces(order, surroundings)
        encoding = EncodingSender(
            self._converters,
            self._tolerance,
            sender if traces is None else TracedWriter(sender, traces),
            topics,
            self._written,
        )
        path = SourcePath(
            self._chain,
            encoding,
            progress,
            self._written,
            tolerance=self._tolerance,
            task_class=self._task_class,
        )
        return SourceRuntime(
            task=self._task,
            config=order.task_config,
            path=path if traces is None else TracedPath(path, traces),
            sender=sender,
            written=self._written,
            failures=self._failures,
            measures=self._measures,
            commits=commits,
            topics=topics,
            calls=self._calls,
            link=self._link,
            control=self._control,
            timing=self._timing,
            clock=surroundings.clock,
            collect_garbage=surroundings.garbage.collect,
            dead_letters=self._letters,
            closers=(self._chain.close, self._converters.close, sender.close, self._close_letters),
        )


def guarantee_of(order: TaskOrder) -> Guarantee:
    """Return the guarantee under which a source task runs.

    Raises:
        ConfigError: It is exactly once, and the worker does not allow that any more.
    """
    sources = ExactlyOnceSources.of(order.worker_config)
    guarantee = guarantee_of_source(order.connector_config, sources)
    if guarantee is Guarantee.EXACTLY_ONCE and sources is ExactlyOnceSources.NONE:
        raise ConfigError(
            "The connector requires exactly-once delivery, which this worker does not allow: set "
            f"{EXACTLY_ONCE.name}=enabled in the worker's properties or remove it there, or give up "
            f"{EXACTLY_ONCE_SUPPORT}=required",
            key=EXACTLY_ONCE_SUPPORT,
        )
    return guarantee


def _source_traces(order: TaskOrder, surroundings: HostSurroundings) -> SourceTraces | None:
    """Return what follows the task's records with spans; None where nothing does.

    Raises:
        ConfigError: `trace.records` or its ratio has no valid value.
    """
    asked = RecordTracing.of(order.connector_config, order.worker_config)
    if asked.mode is TraceMode.OFF or not tracing():
        return None
    ratio = asked.ratio if asked.mode is TraceMode.START else 0.0
    spans = RecordSpans(order.connector, order.task, SEND)
    return SourceTraces(spans, time.time_ns, surroundings.random, ratio)


def _new_task(spec: PluginSpec) -> SourceTask:
    task: SourceTask = spec.make_task()
    return task


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
