"""What every source connector must do."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from copycat_connect.data import ConnectValue, SourceRecord
from copycat_connect.errors import ConnectError, OffsetsUnmodifiableError
from copycat_connect.plugin import (
    PluginSpec,
    SourceConnector,
    SourceTask,
    SourceTaskContext,
    SparkSourceTask,
    SparkUnit,
)
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_testkit.conformance.contexts import FakeConnectorContext, FakeSourceContext
from copycat_testkit.conformance.spec import SpecConformance

_RECORDS_TIMEOUT_SECONDS = 60.0
_STOP_TIMEOUT_SECONDS = 30.0
FrameRows = Callable[[SparkSourceTask, SparkUnit], Iterable[Any]]
"""Has Spark read a unit; returns Arrow's record batches."""


class SparkSourceRun(SourceTask):
    """A task of a source on Spark, as any other: `poll` does what the engine and its partitions would."""

    def __init__(self, spec: PluginSpec, rows: FrameRows) -> None:
        """Read units one by one; `rows` has Spark read one."""
        self._spec, self._rows = spec, rows
        self._task: SparkSourceTask = spec.make_task()

    def initialize(self, context: SourceTaskContext) -> None:
        """Give the context to the task."""
        super().initialize(context)
        self._task.initialize(context)

    def start(self, config: Mapping[str, str]) -> None:
        """Start the task."""
        self._task.start(config)

    def poll(self) -> list[SourceRecord]:
        """Read what is new, record by record."""
        records: list[SourceRecord] = []
        for unit in self._task.plan():
            offset = self.context.offset(unit.partition)
            if self._task.is_done(unit, offset):
                continue
            partition: SparkSourceTask = self._spec.make_task()
            partition.initialize(self.context)
            partition.open(self.context.configs())
            rows = (row for batch in self._rows(self._task, unit) for row in _singly(batch))
            for batch in partition.batches([unit], [offset], rows):
                records.extend(batch)
            partition.stop()
        return records

    def stop(self) -> None:
        """Stop the task."""
        self._task.stop()


def _singly(batch: Any) -> Iterator[Any]:  # noqa: ANN401 - Arrow's
    return (batch.slice(row, 1) for row in range(batch.num_rows))


class SourceConformance(SpecConformance):
    """Derive from it, and say how to configure and feed the connector.

    Resuming is proved from every offset the connector gives out.
    """

    @abstractmethod
    def config(self) -> Mapping[str, str]:
        """Return a configuration for one task that reads what `feed` wrote."""

    @abstractmethod
    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Append records to the system.

        Returns:
            The values the connector must deliver for them, in order.
        """

    def rows_of(self, task: SparkSourceTask, unit: SparkUnit) -> Iterable[Any]:
        """Have Spark read a unit, and make of it what the query says; returns Arrow's batches."""
        raise NotImplementedError

    def start(self, context: FakeSourceContext) -> SourceTask:
        """Start a task as the engine does."""
        spec = self.spec()
        task: SourceTask = SparkSourceRun(spec, self.rows_of) if spec.on_spark else spec.make_task()
        task.initialize(context)
        task.start(context.configs())
        return task

    def read(self, task: SourceTask, count: int) -> list[SourceRecord]:
        """Poll until there are so many records."""
        records: list[SourceRecord] = []
        deadline = time.monotonic() + _RECORDS_TIMEOUT_SECONDS
        while len(records) < count:
            assert time.monotonic() < deadline, (
                f"only {len(records)} of {count} records after {_RECORDS_TIMEOUT_SECONDS} s"
            )
            records.extend(task.poll() or ())
        return records

    @pytest.fixture
    def task_config(self) -> dict[str, str]:
        """The one task's configuration, through the connector."""
        return self._task_configs(1)[0]

    def _task_configs(self, limit: int) -> list[dict[str, str]]:
        connector: SourceConnector = self.spec().make()
        connector.initialize(FakeConnectorContext())
        connector.start(self.config())
        try:
            return connector.task_configs(limit)
        finally:
            connector.stop()

    def test_work_is_divided_into_no_more_tasks_than_allowed(self) -> None:
        """Limits of one and of many are kept, and every configuration is text."""
        self.feed(range(3))
        for limit in (1, 8):
            configs = self._task_configs(limit)
            assert len(configs) <= limit
            assert all(isinstance(value, str) for config in configs for value in config.values())

    def test_records_come_in_order_each_once(self, task_config: dict[str, str]) -> None:
        """What was there before the start and what came after it is delivered."""
        expected = [*self.feed(range(5))]
        task = self.start(FakeSourceContext(task_config))
        values = [record.value for record in self.read(task, 5)]
        expected += self.feed(range(5, 8))
        values += [record.value for record in self.read(task, 3)]
        task.stop()
        assert values == expected

    def test_reading_resumes_after_any_record(self, task_config: dict[str, str]) -> None:
        """A task started with the offset of any record delivers exactly the ones after it."""
        expected = list(self.feed(range(6)))
        first = self.start(FakeSourceContext(task_config))
        records = self.read(first, 6)
        first.stop()
        for place, record in enumerate(records[:-1], 1):
            context = FakeSourceContext(task_config)
            context.store(record.source_partition, record.source_offset)
            task = self.start(context)
            again = [each.value for each in self.read(task, 6 - place)]
            task.stop()
            assert again == expected[place:]

    def test_offsets_are_flat_maps_of_primitives(self, task_config: dict[str, str]) -> None:
        """Offsets survive the store, which holds text keys and primitive values."""
        self.feed(range(2))
        task = self.start(FakeSourceContext(task_config))
        for record in self.read(task, 2):
            for item in (record.source_partition, record.source_offset):
                assert item is not None
                assert all(isinstance(key, str) for key in item)
                assert all(isinstance(each, (str, int, float, bool, type(None))) for each in item.values())
        task.stop()

    def test_offsets_may_be_changed_before_any_start(self, task_config: dict[str, str]) -> None:
        """What was given out may be put back and forgotten; what was not is judged, and nothing breaks."""
        self.feed(range(1))
        task = self.start(FakeSourceContext(task_config))
        (record, *_) = self.read(task, 1)
        task.stop()
        known = record.source_partition, record.source_offset
        for own in (known, (known[0], None)):
            with suppress(OffsetsUnmodifiableError):
                assert isinstance(self._alter_offsets(*own), bool)
        for foreign in (({"conformance": "none"}, {"conformance": 1}), (known[0], {"conformance": 1})):
            with suppress(ConnectError):
                assert isinstance(self._alter_offsets(*foreign), bool)

    def _alter_offsets(self, partition: SourcePartition | None, offset: SourceOffset | None) -> bool:
        connector: SourceConnector = self.spec().make()
        return connector.alter_offsets(self.config(), [(partition, offset)])

    def test_a_stop_is_prompt(self, task_config: dict[str, str]) -> None:
        """A task that waits for data returns from its poll soon after it is being stopped."""
        context = FakeSourceContext(task_config)
        task = self.start(context)
        polling = threading.Thread(target=self._poll_until_stopped, args=(task, context))
        polling.start()
        context.stopping.set()
        polling.join(_STOP_TIMEOUT_SECONDS)
        assert not polling.is_alive()
        task.stop()

    def test_a_task_that_never_started_can_be_stopped(self) -> None:
        """Stopping must not depend on a start that went well."""
        self.spec().make_task().stop()

    def _poll_until_stopped(self, task: SourceTask, context: FakeSourceContext) -> None:
        while not context.stopping.is_set():
            task.poll()
