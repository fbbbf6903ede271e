"""What partitions of Spark have in common: the plugins they work with, and what they report to the driver."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.delivery import Guarantee
from copycat_connect.config.framework_names import CONNECTOR_CLASS, DELIVERY_GUARANTEE, TASKS_MAX
from copycat_connect.config.record_tracing import RecordTracing, TraceMode
from copycat_connect.config.worker_keys import SPAN_ENDPOINT
from copycat_connect.errors import ConfigError, ConnectError, DataError, OffsetLostError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginSpec, load_plugins
from copycat_connect.plugin.spec import failed_entry_points
from copycat_connect.validation.parts import NO_QUERIES
from copycat_telemetry.tracing import configure_tracing, tracing

from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.pipeline.task.failures import failure_of, is_tolerable
from copycat_executor.pipeline.task.measures import Measure
from copycat_executor.pipeline.task.stages import Stage, TaskFailedError, ToleranceExceededError
from copycat_executor.pipeline.task.task_link import ReportedState
from copycat_executor.spark.conf import DRIVER_SLOTS
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.order import TaskOrder

_FAILURES: Final[Mapping[FailureKind, type[Exception]]] = {
    FailureKind.CONFIGURATION: ConfigError,
    FailureKind.AUTHORISATION: PermissionError,
    FailureKind.TRANSIENT: RetriableError,
    FailureKind.OFFSET: OffsetLostError,
    FailureKind.POISON_RECORD: DataError,
    FailureKind.RESOURCE: MemoryError,
}


@dataclass(frozen=True, slots=True)
class PartitionFailure:
    """Why the work of a partition of Spark failed."""

    stage: Stage
    """The stage of the pipeline in which it failed."""
    trace: str
    """The trace, as statuses show it."""
    kind: FailureKind
    """Whether it is a mistake of the configuration, passes by itself, and so on."""
    tolerable: bool
    """Whether `errors.tolerance` has a say in it."""


@dataclass(slots=True)
class PartitionReport:
    """What a partition has to say."""

    topics: list[str] = field(default_factory=list)
    """The topics it met."""
    measures: list[Mapping[str, Measure]] = field(default_factory=list)
    """Values noted under each name, one map for each report."""
    failure: PartitionFailure | None = None
    """Why it ended early, if it did."""

    def fail(self, failed: TaskFailedError, failures: Mapping[type[BaseException], FailureKind]) -> None:
        """Note a failure; `failures` is what the plugin says of exceptions."""
        error = failed.__cause__ or failed
        kind = failure_of(error, failures, failed.stage)
        tolerable = is_tolerable(error, failed.stage)
        self.failure = PartitionFailure(failed.stage, trace_text(error), kind, tolerable)


class PartitionLink:
    """Collects what a task would report to its host (`TaskLink`)."""

    def __init__(self, report: PartitionReport) -> None:
        self._report = report

    def state(self, state: ReportedState) -> None:
        """Say nothing: the task has its state in the driver."""

    def acknowledge_source(
        self,
        sequence: int,
        offsets: Mapping[bytes, bytes | None],
        expected: Mapping[bytes, bytes | None] | None = None,
    ) -> None:
        """Do nothing: a sink has no such offsets."""

    def acknowledge_sink(self, sequence: int, offsets: Mapping[TopicPartition, int]) -> None:
        """Do nothing: the driver acknowledges."""

    def topics_seen(self, topics: Sequence[str]) -> None:
        """Have the driver report topics."""
        self._report.topics.extend(topics)

    def source_offsets(self, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Return nothing: the driver has asked before."""
        return [None] * len(partitions)

    def await_fence(self) -> None:
        """Do nothing: the driver has asked before."""

    def measured(self, measures: Mapping[str, Measure]) -> None:
        """Have the driver report measures."""
        if measures:
            self._report.measures.append(measures)


def fail_as(failure: PartitionFailure, what: str) -> None:
    """Fail a task as a partition did, which is that of `what` it did.

    Raises:
        TaskFailedError: Always.
    """
    kind = _FAILURES.get(failure.kind, ConnectError)
    error: Exception = kind(f"In the partition of Spark that {what}: {failure.trace}")
    if failure.tolerable:
        exceeded = ToleranceExceededError(failure.stage)
        exceeded.__cause__ = error
        error = exceeded
    raise TaskFailedError(failure.stage) from error


def refuse_at_most_once(guarantee: Guarantee, spec: PluginSpec) -> None:
    """Refuse a guarantee that Spark, which repeats what it has lost, cannot give.

    Raises:
        ConfigError: It is at most once.
    """
    if guarantee is Guarantee.AT_MOST_ONCE:
        raise ConfigError(
            f"{spec.class_name} delivers at least once or exactly once: set another {DELIVERY_GUARANTEE}",
            key=DELIVERY_GUARANTEE,
        )


def slots_of(order: TaskOrder) -> int:
    """Return how many partitions of Spark may work for a task at once."""
    return max(1, min(int(order.connector_config.get(TASKS_MAX) or 1), DRIVER_SLOTS))


def connector_of(order: TaskOrder, surroundings: HostSurroundings) -> PluginSpec:
    """Return the connector of a task."""
    return surroundings.plugins.find_connector((order.connector_config.get(CONNECTOR_CLASS) or "").strip())


def failed_plugins_of(surroundings: HostSurroundings) -> tuple[tuple[str, str], ...]:
    """Return the entry points of plugins that partitions are not to load, each with the reason."""
    return tuple(failed_entry_points(surroundings.plugins.unloadable).items())


def root_level() -> str:
    """Return the level of the root logger, for the processes of partitions."""
    level: str = logging.getLevelName(logging.getLogger().level)
    return level


@cache
def partition_surroundings(failed_plugins: tuple[tuple[str, str], ...]) -> HostSurroundings:
    """Load the plugins, once in a process: Spark uses it for one partition after the other.

    From then on garbage is collected where the works of partitions end, and not between two records.
    """
    surroundings = HostSurroundings(
        plugins=load_plugins(failed_before=dict(failed_plugins)),
        environment=dict(os.environ),
        clock=time.monotonic,
        random=random.SystemRandom().random,
        queries=HostQueries(_refuse_queries),
        garbage=Garbage(time.monotonic),
    )
    surroundings.garbage.replace_automatic()
    return surroundings


def export_record_spans(order: TaskOrder) -> None:
    """Have this process export spans if the task's records are followed; the first call counts.

    What makes spans is made after that, and they are flushed where the work of a partition ends: Spark ends
    processes that have none.

    Raises:
        ConfigError: `trace.records` or its ratio has no valid value.
    """
    asked = RecordTracing.of(order.connector_config, order.worker_config)
    if asked.mode is not TraceMode.OFF and not tracing():
        configure_tracing("host", order.worker_config.get(SPAN_ENDPOINT.name))


def _refuse_queries(event: pb.AttachRequest) -> None:
    """Refuse what asks the query engine of a worker, which partitions cannot reach.

    Raises:
        ConfigError: Always.
    """
    del event
    raise ConfigError(NO_QUERIES)
