"""The run of a sink task whose records Spark writes: what is written when, or again, and what counts."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.config.secrets import Secrets
from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.errors import ConfigError, ConnectError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginKind, Plugins, PluginSpec, RecordRange, SparkSinkTask
from copycat_executor.driverhost import sink_run
from copycat_executor.driverhost.partition_work import PartitionFailure
from copycat_executor.driverhost.range_work import RangeReport, RangeWork
from copycat_executor.driverhost.sink_run import SparkSinkLoop, spark_sink_run
from copycat_executor.kafka.range_receivers import RangePlanner
from copycat_executor.pipeline.sink.sink_guarantees import ExactlyOnceSink
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.stages import Stage, TaskFailedError
from copycat_executor.spark.range_jobs import JobLostError, ShareWork
from copycat_executor.taskhost.assemble_sink import sink_runtime
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.order import TaskOrder
from copycat_testkit.kafka import wait_until

from tests.unit.pipeline.fakes import FakeLink, TextConverter, TextHeaders

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


class Table(SparkSinkTask):
    """Keeps what was taken, and what counts with which positions."""

    stored: ClassVar[dict[TopicPartition, int]] = {}
    error: ClassVar[Exception | None] = None

    def prepare(self, config: Mapping[str, str]) -> None:
        self.interval_seconds, self.range_records = 0.001, 100
        self.taken: list[Any] = []
        self.commits: list[tuple[list[Any], dict[TopicPartition, int]]] = []

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        self.taken = []
        return dict(self.stored)

    def write(self, batches: Iterator[SinkBatch]) -> Any:
        raise NotImplementedError

    def take(self, written: Sequence[Any]) -> None:
        self.taken += written

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        error, Table.error = Table.error, None
        if error is not None:
            raise error
        self.commits.append((self.taken, dict(offsets)))
        self.taken = []
        self.stored.update(offsets)
        return offsets

    def stop(self) -> None:
        pass


SPEC = PluginSpec("a.Table", PluginKind.SINK, "1", "", ConfigDef(), Table, "a.Task", Table, on_spark=True)
CONVERTERS = [
    PluginSpec("a.Text", PluginKind.CONVERTER, "1", "", ConfigDef(), TextConverter),
    PluginSpec("a.Headers", PluginKind.HEADER_CONVERTER, "1", "", ConfigDef(), TextHeaders),
]


class Planner(RangePlanner):
    """Knows the ends without Kafka."""

    ends: ClassVar[dict[TopicPartition, int]] = {}
    away: ClassVar[int] = 0

    def committed(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int | None]:
        return dict.fromkeys(partitions)

    def assign(self, offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
        start = {each: offset or 0 for each, offset in offsets.items()}
        self._read_from(start)
        return start

    def restarted(self, *, wait: bool) -> dict[TopicPartition, int]:
        return {}

    def _end(self, partition: TopicPartition) -> int:
        if Planner.away:
            Planner.away -= 1
            raise RetriableError("away")
        return self.ends.get(partition, 0)


class World:
    """A run, and the jobs that it has Spark do (`ShareJobs`): `outcome` says how each share ends."""

    def __init__(self, **config: str) -> None:
        self.jobs: list[list[RangeWork]] = []
        self.cancelled = threading.Event()
        self.outcome: Callable[[RangeWork], RangeReport] = lambda work: RangeReport(
            written=[tuple(each) for each in map(_plain, work.ranges)]
        )
        self.link = FakeLink()
        self.control = self.link.control = TaskControl()
        order = TaskOrder(
            connector="lake",
            task=0,
            worker_config={
                "bootstrap.servers": "127.0.0.1:1",
                "key.converter": "a.Text",
                "value.converter": "a.Text",
                "header.converter": "a.Headers",
            },
            connector_config={
                "name": "lake",
                "connector.class": "a.Table",
                "topics": "a,b",
                "tasks.max": "2",
                "delivery.guarantee": "exactly_once",
                **config,
            },
            task_config={},
            partitions={A: None, B: None},
            secrets=Secrets(),
        )
        surroundings = HostSurroundings(
            plugins=Plugins([SPEC, *CONVERTERS]),
            environment={},
            clock=time.monotonic,
            random=lambda: 0.5,
            queries=HostQueries(lambda _: None),
            garbage=Garbage(time.monotonic),
        )
        self.parts = parts = (order, SPEC, surroundings, self.control, self.link)
        self.runtime = sink_runtime(*parts, calls=CallLog(time.monotonic), receive=Planner)
        self.task = cast("Table", self.runtime.task)
        self.loop = SparkSinkLoop(order, self.runtime, ExactlyOnceSink(self.runtime), self, surroundings)

    def run(self, works: Sequence[ShareWork], tag: str) -> list[bytes]:
        shares = [cast("RangeWork", work) for work in works]
        self.jobs.append(shares)
        return [pickle.dumps(self.outcome(work)) for work in shares]

    def cancel(self, tag: str) -> None:
        self.cancelled.set()

    def settle(self) -> None:
        self.loop.settle(self.control.take_settlements())

    def start(self, *, paused: bool = False) -> None:
        self.loop.start(paused=paused)

    def go(self, holds: Callable[[], bool]) -> None:
        """Go round until something holds."""

        def done() -> bool:
            self.loop.go_round()
            self.settle()
            return holds()

        wait_until(done, 60, "it holds")


def _plain(each: RecordRange) -> tuple[str, int, int]:
    return each.partition.topic, each.begin, each.end


@pytest.fixture
def it(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Give a run, whose parts end with the test; what is lost is written again at once."""
    monkeypatch.setattr(sink_run, "_RETRY_SECONDS", 0.001)
    Table.stored, Table.error, Planner.ends, Planner.away = {}, None, {}, 0
    world = World()
    yield world
    for close in world.loop.closers():
        close()


def written(it: World) -> list[tuple[str, int, int]]:
    return [each for taken, _ in it.task.commits for share in taken for each in share]


def test_what_there_is_is_divided_and_committed_together(it: World) -> None:
    Planner.ends = {A: 90, B: 10}
    Table.stored = {A: 20}
    it.start()
    it.go(lambda: bool(it.task.commits))
    assert written(it) == [("b", 0, 10), ("a", 20, 50), ("a", 50, 90)]
    assert [len(share.ranges) for share in it.jobs[0]] == [2, 1]
    assert it.task.commits == [(it.task.commits[0][0], {A: 90, B: 10})]
    it.go(lambda: it.link.sinks[-1] == {A: 90, B: 10} and not it.loop.unsettled)


def test_rounds_follow_each_other_at_once_while_shares_are_full(it: World) -> None:
    Planner.ends = {A: 1000, B: 7}
    it.start()
    it.task.interval_seconds = 3600.0
    it.go(lambda: Table.stored == {A: 1000, B: 7})
    ranges = sorted(written(it))
    assert ranges.pop() == ("b", 0, 7)
    assert [end for _, _, end in ranges] == [*(begin for _, begin, _ in ranges[1:]), 1000]
    assert all(each.end - each.begin <= 100 for job in it.jobs for work in job for each in work.ranges)
    assert len(it.jobs) == 6
    Planner.ends = {A: 1001, B: 7}
    it.loop.go_round()
    assert len(it.jobs) == 6, "a few records wait until the interval is over"


@pytest.mark.parametrize("how", ["lost", "transient"])
def test_a_round_that_is_lost_is_written_again_and_counts_once(it: World, how: str) -> None:
    Planner.ends = {A: 10}
    failure = PartitionFailure(Stage.TASK_PUT, "the store is away", FailureKind.TRANSIENT, tolerable=False)
    good = it.outcome

    seen: list[str] = []

    def better(work: RangeWork) -> RangeReport:
        tried = it.runtime.calls.tried()
        seen.append(str(tried.error) if tried else "")
        return good(work)

    def outcome(work: RangeWork) -> RangeReport:
        it.outcome = better
        if how == "lost":
            raise JobLostError("an executor of Spark is gone")
        return RangeReport(failure=failure)

    it.outcome = outcome
    it.start()
    it.go(lambda: bool(it.task.commits))
    assert written(it) == [("a", 0, 5), ("a", 5, 10)]
    assert len(it.jobs) == 2
    why = "an executor of Spark is gone" if how == "lost" else "the store is away"
    assert seen[-1] == why, "the status tells why it tries again"
    assert it.runtime.calls.tried() is None


def test_what_is_lost_again_and_again_fails_the_task(it: World) -> None:
    Planner.ends = {A: 10}

    def lose(_: RangeWork) -> RangeReport:
        raise JobLostError("no memory")

    it.outcome = lose
    it.start()
    with pytest.raises(TaskFailedError) as failed:
        it.go(lambda: False)
    assert "Spark could not write the records: no memory" in str(failed.value.__cause__)
    assert len(it.jobs) == 3
    assert not it.task.commits


def test_a_partition_that_fails_fails_the_task_as_it_says(it: World) -> None:
    Planner.ends = {A: 1}
    failure = PartitionFailure(Stage.TASK_PUT, "no column id", FailureKind.CONFIGURATION, tolerable=False)
    it.outcome = lambda _: RangeReport(failure=failure)
    it.start()
    with pytest.raises(TaskFailedError) as failed:
        it.go(lambda: False)
    cause = failed.value.__cause__
    assert isinstance(cause, ConfigError)
    assert str(cause) == "In the partition of Spark that wrote a-0 from 0 to 1: no column id"


def test_a_commit_that_fails_takes_all_back_to_what_is_stored(it: World) -> None:
    Planner.ends = {A: 10}
    it.start()
    it.go(lambda: Table.stored == {A: 10, B: 0})
    Planner.ends, Table.error = {A: 20}, ConnectError("no answer")
    it.go(lambda: Table.stored == {A: 20, B: 0})
    assert [each for each in written(it) if each[1] >= 10] == [("a", 10, 15), ("a", 15, 20)]


def test_kafka_that_is_away_is_asked_again(it: World) -> None:
    Planner.ends, Planner.away = {A: 1}, 1
    it.start()
    it.go(lambda: bool(it.task.commits))
    assert written(it) == [("a", 0, 1)]


def test_a_pause_begins_no_round_and_the_end_commits_the_one_under_way(it: World) -> None:
    Planner.ends = {A: 10}
    it.start(paused=True)
    it.loop.go_round()
    assert not it.jobs
    it.loop.set_paused(False)
    it.go(lambda: bool(it.jobs))
    it.loop.commit_last(failed=False)
    assert Table.stored == {A: 10, B: 0}


def test_the_end_of_a_failed_task_cancels_the_round_under_way(it: World) -> None:
    Planner.ends = {A: 10}
    gate = threading.Event()

    def hang(_: RangeWork) -> RangeReport:
        gate.wait(60)
        return RangeReport()

    it.outcome = hang
    it.start()
    it.go(lambda: bool(it.jobs))
    it.loop.commit_last(failed=True)
    gate.set()
    assert it.cancelled.is_set()
    assert not it.task.commits


def test_at_most_once_is_refused() -> None:
    it = World(**{"delivery.guarantee": "at_most_once"})
    with pytest.raises(ConfigError, match="at least once or exactly once"):
        spark_sink_run(*it.parts, calls=CallLog(time.monotonic), jobs=it)
