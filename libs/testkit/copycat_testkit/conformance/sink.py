"""What every sink connector must do."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import pytest
from copycat_connect.data import ConnectValue, SinkBatch, SinkRecord, TopicPartition
from copycat_connect.errors import OffsetsUnmodifiableError
from copycat_connect.plugin import ExactlyOnceSupport, PluginSpec, SinkConnector, SinkTask, SparkSinkTask
from copycat_connect.plugin.contexts import SinkTaskContext

from copycat_testkit.conformance.contexts import FakeConnectorContext, FakeSinkContext
from copycat_testkit.conformance.spec import SpecConformance

PARTITION = TopicPartition("conformance", 0)


class SparkSinkRun(SinkTask):
    """A task of a sink on Spark, as any other: `put` does what one of Spark's partitions would."""

    def __init__(self, spec: PluginSpec) -> None:
        self._spec = spec
        self._task: SparkSinkTask = spec.make_task()

    def initialize(self, context: SinkTaskContext) -> None:
        """Give the context to the task."""
        super().initialize(context)
        self._task.initialize(context)

    def start(self, config: Mapping[str, str]) -> None:
        """Start the task."""
        self._task.start(config)

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int] | None:
        """Ask the task."""
        return self._task.stored_positions(partitions)

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Open partitions of Kafka."""
        self._task.open(partitions)

    def put(self, records: SinkBatch) -> None:
        """Have another instance write, and the task take what it wrote."""
        if not len(records):
            return
        partition: SparkSinkTask = self._spec.make_task()
        partition.initialize(self.context)
        partition.prepare(self.context.configs())
        try:
            written = pickle.dumps(partition.write(iter([records])))
        finally:
            partition.stop()
        self._task.take([pickle.loads(written)])  # noqa: S301 - just written

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Have the task commit."""
        return self._task.pre_commit(offsets)

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Close partitions of Kafka."""
        self._task.close(partitions)

    def stop(self) -> None:
        """Stop the task."""
        self._task.stop()


class SinkConformance(SpecConformance):
    """Derive from it, and say how to configure the connector and how to read what it wrote."""

    exactly_once = False
    """True where `ExactlyOnceSinkConformance` is the base."""

    @abstractmethod
    def config(self) -> Mapping[str, str]:
        """Return a configuration; `topics` is `conformance`."""

    @abstractmethod
    def value(self, number: int) -> ConnectValue:
        """Return the value of a record."""

    @abstractmethod
    def written(self) -> Sequence[ConnectValue]:
        """Return what the system holds, in order, as values of records."""

    def start(self, context: FakeSinkContext) -> SinkTask:
        """Start a task as the engine does, with one partition."""
        task = self.make_task()
        task.initialize(context)
        task.start(context.configs())
        task.open([PARTITION])
        return task

    def make_task(self) -> SinkTask:
        """Make a task."""
        spec = self.spec()
        made: SinkTask = SparkSinkRun(spec) if spec.on_spark else spec.make_task()
        return made

    def batch(self, numbers: range) -> SinkBatch:
        """Return records with these offsets."""
        return SinkBatch.of([SinkRecord(*PARTITION, number, None, self.value(number)) for number in numbers])

    def end(self, task: SinkTask, offset: int) -> None:
        """Commit and stop a task as the engine does."""
        task.pre_commit({PARTITION: offset})
        task.close([PARTITION])
        task.stop()

    @pytest.fixture
    def context(self) -> FakeSinkContext:
        """The context of the one task."""
        return FakeSinkContext(self._task_configs(1)[0], [PARTITION])

    def _task_configs(self, limit: int) -> list[dict[str, str]]:
        connector: SinkConnector = self.spec().make()
        connector.initialize(FakeConnectorContext())
        connector.start(self.config())
        try:
            return connector.task_configs(limit)
        finally:
            connector.stop()

    def test_there_are_as_many_tasks_as_allowed(self) -> None:
        """A sink gives every task partitions, so it takes all the tasks it may have; on Spark it has one."""
        assert len(self._task_configs(3)) == (1 if self.spec().on_spark else 3)

    def test_records_are_durable_after_a_flush(self, context: FakeSinkContext) -> None:
        """All that was put before a commit can be read after it, in order, while the task runs on."""
        task = self.start(context)
        task.put(self.batch(range(3)))
        task.put(self.batch(range(3, 5)))
        committed = task.pre_commit({PARTITION: 5})
        assert list(self.written()) == [self.value(number) for number in range(5)]
        assert all(offset <= 5 for offset in committed.values())
        self.end(task, 5)

    def test_an_empty_batch_changes_nothing(self, context: FakeSinkContext) -> None:
        """The engine puts empty batches while there is nothing to read."""
        task = self.start(context)
        task.put(SinkBatch.of([]))
        self.end(task, 0)
        assert list(self.written()) == []

    def test_a_second_task_goes_on_where_the_first_ended(self, context: FakeSinkContext) -> None:
        """A restart loses nothing that was committed and repeats nothing by itself."""
        first = self.start(context)
        first.put(self.batch(range(2)))
        self.end(first, 2)
        second = self.start(FakeSinkContext(context.configs(), [PARTITION]))
        second.put(self.batch(range(2, 4)))
        self.end(second, 4)
        assert list(self.written()) == [self.value(number) for number in range(4)]

    def test_a_batch_given_again_loses_nothing(self, context: FakeSinkContext) -> None:
        """At least once: whatever is read again is written again, or recognised."""
        task = self.start(context)
        task.put(self.batch(range(2)))
        task.put(self.batch(range(2)))
        self.end(task, 2)
        values = list(self.written())
        assert [value for place, value in enumerate(values) if value not in values[:place]] == [
            self.value(0),
            self.value(1),
        ]

    def test_commits_never_run_ahead_of_what_was_put(self, context: FakeSinkContext) -> None:
        """The task commits no more than it was asked for."""
        task = self.start(context)
        task.put(self.batch(range(1)))
        assert set(task.pre_commit({PARTITION: 1})) <= {PARTITION}
        self.end(task, 1)

    @pytest.mark.parametrize(
        "offsets", [{PARTITION: 0}, {PARTITION: None}, {}], ids=["set", "forget", "reset"]
    )
    def test_offsets_may_be_changed_before_any_start(
        self, offsets: Mapping[TopicPartition, int | None]
    ) -> None:
        """A fresh connector says whether it has taken part, or that nobody can change them."""
        connector: SinkConnector = self.spec().make()
        with suppress(OffsetsUnmodifiableError):
            assert isinstance(connector.alter_offsets(self.config(), offsets), bool)

    def test_a_sink_that_supports_exactly_once_shows_it(self) -> None:
        """One that says SUPPORTED passes the suite `ExactlyOnceSinkConformance` as well."""
        support = self.spec().make().exactly_once_support(self.config())
        assert support is not ExactlyOnceSupport.SUPPORTED or self.exactly_once

    def test_a_task_that_never_started_can_be_stopped(self) -> None:
        """Stopping must not depend on a start that went well."""
        self.make_task().stop()
