"""The run of a task whose records Spark reads: what is read beside what, what is read again, and when not."""

from __future__ import annotations

import pickle
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.config.secrets import Secrets
from copycat_connect.data import SourceBatch
from copycat_connect.errors import ConfigError, DataError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginKind, Plugins, PluginSpec, RowQuery, SparkSourceTask, SparkUnit
from copycat_connect.plugin.contexts import SourceOffset
from copycat_executor.driverhost.partition_work import PartitionFailure
from copycat_executor.driverhost.source_run import SparkSourceLoop
from copycat_executor.driverhost.unit_reads import GROUP_BYTES, LANES
from copycat_executor.driverhost.unit_work import UnitReport, UnitWork
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.stages import (
    Stage,
    StaleTaskError,
    TaskFailedError,
    ToleranceExceededError,
)
from copycat_executor.spark.unit_jobs import UnitLostError, Work
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.order import TaskOrder
from copycat_testkit.kafka import wait_until

from tests.unit.pipeline.fakes import FakeLink

UNITS = 10
QUERY = RowQuery("SELECT id FROM records")
EXACTLY_ONCE = {"delivery.guarantee": "exactly_once"}


class Units(SparkSourceTask):
    """Has the units 0 to 9, of a size or without; `alike` of them can be read as one."""

    number = UNITS
    size: int | None = None
    alike = 1
    query = QUERY

    def open(self, config: Mapping[str, str]) -> None:
        numbers = range(self.number)
        self._left = [SparkUnit({"unit": each}, f"unit {each}", each, self.size) for each in numbers]

    def plan(self) -> list[SparkUnit]:
        left, self._left = self._left, []
        return left

    def is_done(self, unit: SparkUnit, offset: SourceOffset | None) -> bool:
        return offset is not None

    def frame(self, session: Any, units: Sequence[SparkUnit]) -> tuple[Any, int]:
        return "rows", min(len(units), self.alike)

    def batches(
        self, units: Sequence[SparkUnit], offsets: Sequence[SourceOffset | None], rows: Iterator[Any]
    ) -> Iterator[SourceBatch]:
        return iter(())

    def end_of(self, unit: SparkUnit, offset: SourceOffset | None) -> SourceOffset:
        return {"done": True}

    def stop(self) -> None:
        pass


SPEC = PluginSpec("a.Units", PluginKind.SOURCE, "1", "", ConfigDef(), Units, "a.Task", Units, on_spark=True)


def small(number: int, size: int = 1, alike: int = 1000) -> PluginSpec:
    """Return a source of so many units of a size."""
    made = type("Small", (Units,), {"number": number, "size": size, "alike": alike})
    return replace(SPEC, factory=made, task_factory=made)


def key(number: int) -> bytes:
    return b'{"unit":%d}' % number


class World:
    """A run, and the jobs that it has Spark do (`Jobs`): `outcome` says how each ends."""

    session = None
    addresses = ("127.0.0.1", "localhost")
    made: ClassVar[list[World]] = []

    def __init__(self, spec: PluginSpec = SPEC, /, **config: str) -> None:
        self.read: list[int] = []
        self.groups: list[list[int]] = []
        self.fenced: list[int] = []
        self.beside = 0
        self.most_beside = 0
        self.lanes: set[int] = set()
        self.cancelled = threading.Event()
        self.outcome: Callable[[UnitWork], UnitReport] = lambda work: UnitReport(
            offsets={key(unit.content): b"{}" for unit in work.units}
        )
        self.calls = CallLog(time.monotonic)
        self.link = FakeLink()
        self.control = self.link.control = TaskControl()
        self._lock = threading.Lock()
        order = TaskOrder(
            connector="lake",
            task=0,
            worker_config={"group.id": "g"},
            connector_config={"tasks.max": "3", **config},
            task_config={},
            partitions={},
            secrets=Secrets(),
        )
        surroundings = HostSurroundings(
            plugins=Plugins([spec]),
            environment={},
            clock=time.monotonic,
            random=lambda: 0.5,
            queries=HostQueries(lambda _: None),
            garbage=Garbage(time.monotonic),
        )
        self.loop = SparkSourceLoop(
            order,
            spec,
            surroundings,
            self.control,
            self.link,
            calls=self.calls,
            jobs=self,
            fence=lambda _, producer, __: self.fenced.append(producer),
        )
        World.made.append(self)

    def run(
        self, begin: Callable[[], tuple[Any, Work]], query: RowQuery | None, tag: str, *, repeatable: bool
    ) -> bytes:
        rows, work = begin()
        assert isinstance(work, UnitWork)
        assert rows == (None if work.units[0].is_mark else "rows")
        assert (query, repeatable) == (QUERY, work.line is not None)
        assert len(work.units) == len(work.offsets)
        with self._lock:
            self.groups.append([unit.content for unit in work.units])
            self.read += self.groups[-1]
            assert work.producer not in self.lanes
            self.lanes.add(work.producer)
            self.beside += 1
            self.most_beside = max(self.most_beside, self.beside)
        try:
            return pickle.dumps(self.outcome(work))
        finally:
            with self._lock:
                self.lanes.discard(work.producer)
                self.beside -= 1

    def cancel(self, tag: str) -> None:
        self.cancelled.set()

    def go(self, holds: Callable[[], bool]) -> None:
        """Start, and go round until something holds."""
        self.loop.start(paused=False)
        self.go_on(holds)

    def go_on(self, holds: Callable[[], bool]) -> None:
        """Go round until something holds."""

        def done() -> bool:
            self.loop.go_round()
            self.loop.settle(self.control.take_settlements())
            return holds()

        wait_until(done, 60, "it holds")

    def committed(self) -> set[bytes]:
        return {partition for offsets in self.link.sources for partition in offsets}


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """End the runs of a test with it."""
    yield
    while World.made:
        for close in World.made.pop().loop.closers():
            close()


def lose(_: UnitWork) -> UnitReport:
    raise UnitLostError("an executor of Spark is gone")


def test_units_are_read_side_by_side_and_acknowledged_when_they_are_read() -> None:
    it = World()
    it.link.stored[key(4)] = b"{}"
    it.go(lambda: len(it.committed()) == UNITS - 1)
    assert sorted(it.read) == [number for number in range(UNITS) if number != 4]
    assert 1 <= it.most_beside <= 3


def test_small_units_are_read_together_and_leave_enough_for_the_other_partitions() -> None:
    it = World(small(100))
    it.go(lambda: len(it.committed()) == 100)
    assert sorted(it.read) == list(range(100))
    first = sorted(it.groups)[0]
    assert first == list(range(len(first)))
    assert 30 <= len(first) <= 34  # a third, as three partitions read at once
    assert len(it.groups) < 20


def test_exactly_once_units_are_read_together_that_have_a_transactional_id_in_common() -> None:
    it = World(small(400), **EXACTLY_ONCE)
    it.go(lambda: len(it.committed()) == 400)
    lanes = [{zlib.crc32(key(number)) % LANES for number in group} for group in it.groups]
    assert all(len(each) == 1 for each in lanes)
    assert len(it.groups) < 100
    assert sorted(it.read) == list(range(400))


def test_a_group_has_no_more_bytes_than_a_partition_reads_in_a_while() -> None:
    it = World(small(10, GROUP_BYTES // 2 - 1), **{"tasks.max": "1"})
    it.go(lambda: len(it.committed()) == 10)
    assert it.groups == [[number, number + 1] for number in range(0, 10, 2)]
    large = World(small(3, GROUP_BYTES + 1), **{"tasks.max": "1"})
    large.go(lambda: len(large.committed()) == 3)
    assert large.groups == [[0], [1], [2]]


def test_units_that_cannot_be_read_as_one_are_read_after_each_other() -> None:
    it = World(small(10, alike=3), **{"tasks.max": "1"})
    it.go(lambda: len(it.committed()) == 10)
    assert it.groups == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


@pytest.mark.parametrize("more", [{}, EXACTLY_ONCE], ids=["at_least_once", "exactly_once"])
def test_a_mark_is_committed_when_all_before_it_is_and_before_what_comes_behind(more: dict[str, str]) -> None:
    marks = {4, 9, 10}

    class Marked(Units):
        number = 20

        def open(self, config: Mapping[str, str]) -> None:
            super().open(config)
            self._left = [replace(unit, is_mark=unit.content in marks) for unit in self._left]

    it = World(replace(SPEC, factory=Marked, task_factory=Marked), **more)
    events: list[tuple[str, int]] = []

    def outcome(work: UnitWork) -> UnitReport:
        events.append(("begins", work.units[0].content))
        time.sleep(0.01)  # long enough for another to begin beside it, were it not for the mark
        events.append(("ends", work.units[0].content))
        return UnitReport(offsets={key(unit.content): b"{}" for unit in work.units})

    it.outcome = outcome
    it.go(lambda: len(it.committed()) == 20)
    assert it.most_beside > 1
    for mark in marks:
        began, ended = events.index(("begins", mark)), events.index(("ends", mark))
        assert ended == began + 1
        assert {number for _, number in events[:began]} == set(range(mark))


def test_a_group_that_is_lost_is_read_again_unit_by_unit() -> None:
    it = World(small(4), **{"tasks.max": "1"})
    whole = it.outcome
    it.outcome = lambda work: lose(work) if len(work.units) > 1 else whole(work)
    it.go(lambda: len(it.committed()) == 4)
    assert it.groups == [[0, 1, 2, 3], [0], [1], [2], [3]]


def test_exactly_once_a_partition_hears_from_its_driver_where_its_unit_begins() -> None:
    it = World(**EXACTLY_ONCE)
    heard: list[bytes | None] = []

    def outcome(work: UnitWork) -> UnitReport:
        assert work.line is not None
        it.link.stored[key(work.units[0].content)] = b'{"record":5}'  # another has committed since
        work.line.await_fence()
        heard.extend(work.line.source_offsets([key(work.units[0].content)]))
        return UnitReport()

    it.outcome = outcome
    it.go(lambda: len(heard) == UNITS)
    assert heard == [b'{"record":5}'] * UNITS
    assert it.link.events.count("fenced") == UNITS + 1


def test_exactly_once_a_partition_that_is_replaced_ends_the_task_without_a_word() -> None:
    it = World(**EXACTLY_ONCE, **{"tasks.max": "1"})

    def outcome(work: UnitWork) -> UnitReport:
        assert work.line is not None
        it.link.fences = [StaleTaskError()]
        with pytest.raises(StaleTaskError):
            work.line.await_fence()
        return UnitReport(stale=True)

    it.outcome = outcome
    with pytest.raises(StaleTaskError):
        it.go(lambda: False)


def test_a_lost_unit_is_read_again() -> None:
    it = World()
    whole, lost = it.outcome, {2, 5}

    def outcome(work: UnitWork) -> UnitReport:
        if work.units[0].content in lost:
            lost.discard(work.units[0].content)
            return lose(work)
        return whole(work)

    it.outcome = outcome
    it.go(lambda: len(it.committed()) == UNITS)
    assert sorted(it.read) == sorted([*range(UNITS), 2, 5])


def test_a_unit_whose_frame_cannot_be_made_now_is_read_again_and_the_status_says_why() -> None:
    away = [RetriableError("the table customers is away")] * 5

    class Away(Units):
        def frame(self, session: Any, units: Sequence[SparkUnit]) -> tuple[Any, int]:
            if away:
                raise away.pop()
            return super().frame(session, units)

    it = World(replace(SPEC, factory=Away, task_factory=Away), **{"tasks.max": "1"})
    it.go(lambda: len(away) < 4)
    tried = it.calls.tried()
    assert tried is not None
    assert str(tried.error) == "the table customers is away"
    it.go_on(lambda: len(it.committed()) == UNITS)
    assert sorted(it.read) == [*range(UNITS)]
    assert it.calls.tried() is None


def test_what_is_cancelled_at_the_end_is_fenced_so_that_its_transaction_is_open_no_longer() -> None:
    it = World(**EXACTLY_ONCE)
    lanes: list[int] = []

    def outcome(work: UnitWork) -> UnitReport:
        lanes.append(work.producer)
        it.cancelled.wait()
        return lose(work)

    it.outcome = outcome
    it.go(lambda: len(lanes) == 3)
    it.loop.commit_last(failed=True)
    assert sorted(it.fenced) == sorted(lanes)


def test_a_unit_that_is_lost_again_and_again_fails_the_task() -> None:
    it = World()
    it.outcome = lose
    with pytest.raises(TaskFailedError) as failed:
        it.go(lambda: False)
    assert "unit" in str(failed.value.__cause__)
    assert "an executor of Spark is gone" in str(failed.value.__cause__)


def test_a_failure_in_a_partition_fails_the_task_as_it_would_in_a_host() -> None:
    it = World()
    failure = PartitionFailure(Stage.VALUE_CONVERTER, "a trace", FailureKind.POISON_RECORD, tolerable=True)
    it.outcome = lambda _: UnitReport(failure=failure)
    with pytest.raises(TaskFailedError) as failed:
        it.go(lambda: False)
    assert failed.value.stage is Stage.VALUE_CONVERTER
    exceeded = failed.value.__cause__
    assert isinstance(exceeded, ToleranceExceededError)
    assert isinstance(exceeded.__cause__, DataError)
    assert "a trace" in str(exceeded.__cause__)


def test_a_paused_task_begins_no_unit() -> None:
    it = World()
    it.loop.start(paused=True)
    it.loop.go_round()
    assert it.read == []
    it.loop.set_paused(False)

    def all_is_read() -> bool:
        it.loop.go_round()
        return len(it.read) == UNITS

    wait_until(all_is_read, 60)


def test_at_most_once_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least once or exactly once"):
        World(**{"delivery.guarantee": "at_most_once"})
