"""What every sink connector must do that says it supports exactly-once delivery."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from multiprocessing.process import BaseProcess

import pytest
from copycat_connect.data import ConnectValue, SinkBatch, TopicPartition
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, SinkConnector, SinkTask

from copycat_testkit.conformance.contexts import FakeConnectorContext, FakeSinkContext
from copycat_testkit.conformance.sink import PARTITION, SinkConformance

RECORDS = 6
CALLS = 14
Call = Callable[[], object]


class ExactlyOnceSinkConformance(SinkConformance):
    """For sinks that store positions with their data (`SinkTask.stored_positions`); derive from it instead.

    Tasks are killed in child processes that are forked from the one that runs the tests: whatever `config`
    and `written` need must bear that. For a sink on Spark they are new processes, to which the suite's
    instance is sent (pickle).
    """

    exactly_once = True

    def exactly_once_config(self) -> Mapping[str, str]:
        """Return a configuration that delivers exactly once."""
        return {"name": "conformance", **self.config(), "delivery.guarantee": "exactly_once"}

    @pytest.fixture
    def context(self) -> FakeSinkContext:
        """The context of the one task."""
        return self._context()

    def _context(self) -> FakeSinkContext:
        connector: SinkConnector = self.spec().make()
        connector.initialize(FakeConnectorContext())
        connector.start(self.exactly_once_config())
        try:
            return FakeSinkContext(connector.task_configs(1)[0], [PARTITION])
        finally:
            connector.stop()

    def start(self, context: FakeSinkContext) -> SinkTask:
        """Start a task as the engine does."""
        task = self._new_task(context)
        self._position(task)
        task.open([PARTITION])
        return task

    def _new_task(self, context: FakeSinkContext) -> SinkTask:
        task = self.make_task()
        task.initialize(context)
        task.start(context.configs())
        return task

    def _position(self, task: SinkTask) -> int:
        stored = task.stored_positions([PARTITION])
        assert stored is not None, "a sink that supports it says where to resume"
        return stored.get(PARTITION, 0)

    def _values(self, end: int) -> list[ConnectValue]:
        return [self.value(number) for number in range(end)]

    def _calls(self) -> Iterator[Call]:
        """Yield the calls of a run in their order."""
        context = self._context()
        task = self.make_task()
        yield lambda: task.initialize(context)
        yield lambda: task.start(context.configs())
        yield lambda: task.stored_positions([PARTITION])
        yield lambda: task.open([PARTITION])
        yield lambda: task.put(self.batch(range(2)))
        yield lambda: task.put(SinkBatch.of([]))
        yield lambda: task.pre_commit({PARTITION: 2})
        yield lambda: task.put(self.batch(range(2, 3)))
        yield lambda: task.put(self.batch(range(3, 5)))
        yield lambda: task.pre_commit({PARTITION: 5})
        yield lambda: task.pre_commit({PARTITION: 5})
        yield lambda: task.put(self.batch(range(5, RECORDS)))
        yield lambda: task.close([PARTITION])
        yield task.stop

    def test_it_says_that_it_supports_it(self) -> None:
        """Without that, `delivery.guarantee=exactly_once` is refused."""
        support = self.spec().make().exactly_once_support(self.exactly_once_config())
        assert support is ExactlyOnceSupport.SUPPORTED

    @pytest.mark.parametrize("last", range(CALLS))
    def test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(self, last: int) -> None:
        """A task is killed after one of its calls; the next one goes on where the data ends."""
        self._killed_after(last)
        task = self._new_task(self._context())
        begin = self._position(task)
        task.open([PARTITION])
        assert begin in {0, 2, 5}, "a position that was never flushed"
        task.put(self.batch(range(begin, RECORDS)))
        self.end(task, RECORDS)
        assert list(self.written()) == self._values(RECORDS)

    def test_a_task_that_was_thought_dead_writes_nothing_more(self, context: FakeSinkContext) -> None:
        """A process may be frozen for hours and go on: only what its successor writes is there then."""
        frozen = self.start(context)
        frozen.put(self.batch(range(2)))
        frozen.pre_commit({PARTITION: 2})
        frozen.put(self.batch(range(2, 3)))
        successor = self._new_task(self._context())
        assert self._position(successor) == 2
        successor.open([PARTITION])
        with suppress(ConnectError):
            frozen.put(self.batch(range(3, 4)))
        successor.put(self.batch(range(2, 4)))
        with suppress(ConnectError):
            frozen.pre_commit({PARTITION: 4})
        successor.put(self.batch(range(4, RECORDS)))
        self.end(successor, RECORDS)
        with suppress(ConnectError):
            frozen.close([PARTITION])
        frozen.stop()
        assert list(self.written()) == self._values(RECORDS)

    def test_asked_again_in_its_run_it_goes_back_to_what_it_stored(self, context: FakeSinkContext) -> None:
        """The engine asks again after a flush that failed, and puts again what was not stored."""
        task = self.start(context)
        task.put(self.batch(range(2)))
        task.pre_commit({PARTITION: 2})
        task.put(self.batch(range(2, 4)))
        assert self._position(task) == 2
        task.put(self.batch(range(2, RECORDS)))
        self.end(task, RECORDS)
        assert list(self.written()) == self._values(RECORDS)

    @pytest.mark.parametrize(
        ("change", "found"),
        [({PARTITION: 1}, 1), ({PARTITION: None}, 0), ({}, 0)],
        ids=["moved", "forgotten", "all forgotten"],
    )
    def test_a_user_changes_what_is_stored(
        self, context: FakeSinkContext, change: Mapping[TopicPartition, int | None], found: int
    ) -> None:
        """`alter_offsets` takes part, since positions of the group do not count."""
        first = self.start(context)
        first.put(self.batch(range(2)))
        self.end(first, 2)
        assert self.spec().make().alter_offsets(self.exactly_once_config(), change)
        second = self._new_task(self._context())
        assert self._position(second) == found
        second.stop()

    def _killed_after(self, last: int) -> None:
        child: BaseProcess
        if self.spec().on_spark:
            # Libraries with threads of their own, as those of tables have, do not work in a forked process.
            multiprocessing.set_forkserver_preload([type(self).__module__, self.spec().module])
            child = multiprocessing.get_context("forkserver").Process(target=self._run_and_die, args=(last,))
        else:
            child = multiprocessing.get_context("fork").Process(target=self._run_and_die, args=(last,))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL, "a call failed in the child"

    def _run_and_die(self, last: int) -> None:
        for call in islice(self._calls(), last + 1):
            call()
        os.kill(os.getpid(), signal.SIGKILL)
