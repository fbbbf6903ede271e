"""The run of a query with state: which state counts, and when Spark may go on behind a batch."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.secrets import Secrets
from copycat_connect.errors import OffsetLostError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import SparkStream, SparkUnit, StreamBatch
from copycat_executor.driverhost.partition_work import PartitionFailure, fail_as
from copycat_executor.driverhost.service_questions import ServiceQuestions
from copycat_executor.driverhost.stream_run import QUERY_LANE, StreamRun
from copycat_executor.driverhost.unit_work import DeliveredUnits, UnitReport
from copycat_executor.pipeline.source.source_offsets import partition_key
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.failures import failure_of
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError
from copycat_executor.spark.unit_jobs import UnitLostError
from copycat_executor.taskhost.order import TaskOrder
from copycat_testkit.kafka import wait_until

from tests.unit.pipeline.fakes import FakeLink

QUERY = partition_key({"query": "q"})
SECONDS = 60.0
STREAM = SparkStream(
    name="q",
    topics=("orders",),
    state_url="file:///state/",
    slots=2,
    mode="append",
    interval_seconds=1,
    sql="SELECT 1",
    tables=lambda session, begin: session.append(begin),
    rows=lambda rows: rows,
)


class Folders:
    """States on disk (`StateFolders`): the newest batches of each epoch's logs, and its positions."""

    def __init__(self) -> None:
        self.logs: dict[str, tuple[int, int]] = {}
        self.at: dict[str, int] = {}
        self.kept: list[str] = []

    def folder(self, epoch: str) -> str:
        return f"/state/{epoch}"

    def newest(self, epoch: str, log: str) -> int:
        planned, done = self.logs.get(epoch, (-1, -1))
        return planned if log == "offsets" else done

    def positions(self, epoch: str, batch: int) -> dict[str, int]:
        del epoch, batch
        return self.at

    def keep(self, epoch: str) -> None:
        self.kept.append(epoch)


@dataclass
class Work:
    """What a partition does: it reports as the world says."""

    world: World
    unit: SparkUnit
    lane: int

    def report(self, rows: Iterator[Any]) -> bytes:
        del rows
        world, unit = self.world, self.unit
        world.done.append((unit.partition, unit.content, self.lane))
        offsets: dict[bytes, bytes | None] = {
            partition_key(unit.partition): json.dumps(unit.content.offset()).encode()
        }
        return pickle.dumps(UnitReport(offsets=offsets, failure=world.failure, stale=world.stale))


class World:
    """A run with what it works with: Spark (`RunningQueries`), topics (`TopicRows`) and works."""

    line = None

    def __init__(self, offset: Mapping[str, Any] | None = None, stream: SparkStream = STREAM) -> None:
        self.folders = Folders()
        self.begun: list[tuple[str, Mapping[TopicPartition, int]]] = []
        self.each: Callable[[Any, int], None] = lambda rows, number: None
        self.why: str | None = None
        self.stopped = 0
        self.done: list[tuple[Mapping[str, Any], StreamBatch, int]] = []
        self.failure: PartitionFailure | None = None
        self.stale = False
        self.link = FakeLink(control=TaskControl())
        assert self.link.control is not None
        self.control = self.link.control
        if offset is not None:
            self.link.stored[QUERY] = json.dumps(offset).encode()
        self.order = TaskOrder("q", 0, {}, {}, {}, {}, Secrets())
        self.calls = CallLog(time.monotonic)
        self.delivered = DeliveredUnits(self.link, time.monotonic)
        self.run_of_query = StreamRun(
            stream,
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            topics=self,  # type: ignore[arg-type]
            questions=ServiceQuestions(self.link, self.control, self.calls),
            delivered=self.delivered,
            control=self.control,
            calls=self.calls,
            fence=lambda *_: None,
        )

    def bounds(
        self, topics: Collection[str], read: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        assert set(read.values()) <= {50}
        return {TopicPartition(topic, number): (5, 100) for topic in topics for number in (0, 1)}

    def of(self, unit: SparkUnit, lane: int) -> Work:
        return Work(self, unit, lane)

    def state_folders(self, address: str) -> Folders:
        assert address == "file:///state/q"
        return self.folders

    def start(
        self,
        sql: str,
        tables: Callable[[Any], None],
        settings: Any,
        each: Callable[[Any, int], None],
        *,
        repeatable: bool,
    ) -> None:
        views: list[Mapping[TopicPartition, int]] = []
        tables(views)
        self.begun.append((settings.folder, views[0]))
        self.each, self.why = each, None

    def renew(self, read: Callable[[Any], bool], tag: str) -> bool:
        return read("session")

    def ended(self) -> str | None:
        return self.why

    def stop(self) -> None:
        self.stopped += 1

    def run(self, rows: Any, works: Sequence[Work], tag: str) -> list[bytes]:
        return [work.report(iter(())) for work in works]

    def cancel(self, tag: str) -> None:
        pass

    def rounds(self, until: Callable[[], bool], *, paused: bool = False) -> None:
        """Go round, as the frame of a task does, until something is so."""

        def go_on() -> bool:
            self.delivered.settle(self.control.take_settlements())
            self.run_of_query.go_round(paused=paused)
            return until()

        wait_until(go_on, SECONDS, "the run comes that far")

    def committed(self) -> list[Any]:
        """What was acknowledged of the query as a whole."""
        found = [offsets[QUERY] for offsets in self.link.sources if QUERY in offsets]
        return [json.loads(text) for text in found if text is not None]


def test_a_new_state_begins_where_the_topics_do_once_that_is_committed() -> None:
    world = World()
    world.rounds(lambda: bool(world.begun))
    ((folder, begin),) = world.begun
    (first,) = world.committed()
    assert first == {"epoch": folder.removeprefix("/state/"), "batch": -1, "orders-0": 5, "orders-1": 5}
    assert begin == {TopicPartition("orders", 0): 5, TopicPartition("orders", 1): 5}
    assert world.done[0][2] == QUERY_LANE
    assert world.folders.kept == [first["epoch"]]


@pytest.mark.parametrize(("planned", "done"), [(7, 7), (7, 6), (8, 7)])
def test_a_state_counts_that_is_at_the_batch_of_the_offset(planned: int, done: int) -> None:
    world = World({"epoch": "e", "batch": 7, "orders-0": 9})
    world.folders.logs["e"], world.folders.at = (planned, done), {"orders-0": 9}
    world.rounds(lambda: bool(world.begun))
    assert world.begun == [("/state/e", {TopicPartition("orders", 0): 9})]
    assert not world.committed()


@pytest.mark.parametrize(
    "offset", [{"orders-1": 50}, {"epoch": "e", "batch": 7, "orders-1": 50}], ids=["positions", "edited"]
)
def test_other_positions_begin_an_empty_state_there(offset: dict[str, Any]) -> None:
    world = World(offset)
    world.folders.logs["e"], world.folders.at = (7, 7), {"orders-0": 9, "orders-1": 9}
    world.rounds(lambda: bool(world.begun))
    (first,) = world.committed()
    assert first["epoch"] != "e"
    assert (first["batch"], first["orders-0"], first["orders-1"]) == (-1, 5, 50)


@pytest.mark.parametrize(
    ("logs", "text"),
    [
        ((-1, -1), "is not there, the offset of the query at batch 7"),
        ((5, 5), "is at batch 5, the offset"),
        ((9, 9), "is at batch 9, the offset"),
    ],
)
def test_a_state_that_is_gone_or_another_fails_with_the_way_out(logs: tuple[int, int], text: str) -> None:
    world = World({"epoch": "e", "batch": 7, "orders-0": 9})
    world.folders.logs["e"], world.folders.at = logs, {"orders-0": 9}
    with pytest.raises(TaskFailedError) as failed:
        world.rounds(lambda: False)
    assert text in str(failed.value.__cause__)
    assert isinstance(failed.value.__cause__, OffsetLostError)
    assert "DELETE offsets" in str(failed.value.__cause__)


def test_spark_goes_on_behind_a_batch_once_it_is_committed() -> None:
    world = World()
    world.rounds(lambda: bool(world.begun))
    world.link.control = None  # nobody answers for now
    world.folders.at = {"orders-0": 60, "orders-1": 70}
    thread = threading.Thread(target=world.each, args=("rows", 0))
    thread.start()
    world.rounds(lambda: len(world.committed()) == 2)
    epoch = world.committed()[0]["epoch"]
    assert world.committed()[1] == {"epoch": epoch, "batch": 0, "orders-0": 60, "orders-1": 70}
    assert [(partition, lane) for partition, _, lane in world.done[1:]] == [
        ({"query": "q", "slot": 0}, 0),
        ({"query": "q", "slot": 1}, 1),
        ({"query": "q"}, QUERY_LANE),
    ]
    world.run_of_query.go_round(paused=False)
    assert thread.is_alive()
    world.control.settle(Settlement(len(world.link.sources)))
    world.rounds(lambda: not thread.is_alive())


def test_a_batch_that_is_delivered_while_the_task_ends_is_committed_but_not_left_behind_by_spark() -> None:
    world = World()
    world.rounds(lambda: bool(world.begun))
    raised: list[Exception] = []

    def batch() -> None:
        try:
            world.each("rows", 0)
        except UnitLostError as error:
            raised.append(error)

    thread = threading.Thread(target=batch)
    thread.start()
    wait_until(lambda: len(world.done) == 4, SECONDS, "it is delivered")
    world.run_of_query.end(SECONDS, failed=False)
    thread.join(SECONDS)
    assert world.committed()[-1]["batch"] == 0
    assert len(raised) == world.stopped == 1


def test_what_a_partition_reports_fails_the_task_and_a_lost_query_is_started_again() -> None:
    world = World()
    world.rounds(lambda: bool(world.begun))
    for tries in (1, 2):
        world.why = "a process was killed"
        world.rounds(lambda: len(world.begun) == tries + 1)  # noqa: B023
    world.why = "STATE_STORE: killed again"
    with pytest.raises(TaskFailedError) as lost:
        world.rounds(lambda: False)
    assert "killed again" in str(lost.value.__cause__)

    world = World()
    world.rounds(lambda: bool(world.begun))
    world.failure = PartitionFailure(Stage.KAFKA_PRODUCE, "boom", FailureKind.BUG, tolerable=False)
    with pytest.raises(UnitLostError):
        world.each("rows", 0)
    with pytest.raises(TaskFailedError) as failed:
        world.run_of_query.go_round(paused=False)
    assert "boom" in str(failed.value.__cause__)

    world = World()
    world.rounds(lambda: bool(world.begun))
    world.stale = True
    with pytest.raises(UnitLostError):
        world.each("rows", 0)
    with pytest.raises(StaleTaskError):
        world.run_of_query.go_round(paused=False)


@pytest.mark.parametrize("kind", FailureKind)
def test_what_a_failure_of_a_partition_means_is_what_that_of_the_task_means(kind: FailureKind) -> None:
    with pytest.raises(TaskFailedError) as failed:
        fail_as(PartitionFailure(Stage.TASK_POLL, "boom", kind, tolerable=False), "read topics")
    assert failed.value.__cause__ is not None
    assert failure_of(failed.value.__cause__, {}, failed.value.stage) is kind


def test_a_paused_query_ends_and_begins_again_where_it_was() -> None:
    world = World()
    world.rounds(lambda: bool(world.begun))
    world.rounds(lambda: world.stopped == 1, paused=True)
    first = world.committed()[0]
    world.link.stored[QUERY] = json.dumps(first).encode()
    world.rounds(lambda: len(world.begun) == 2)
    assert world.begun[0] == world.begun[1]


def test_a_query_begins_again_where_a_table_has_changed_and_waits_while_it_cannot_be_read() -> None:
    answers: list[bool | RetriableError] = [RetriableError("customers is away"), True, False, True]
    world: World

    def renew(session: Any) -> bool:
        assert session == "session"
        if len(world.link.sources) == 1 and world.begun:
            world.link.stored[QUERY] = json.dumps(world.committed()[0]).encode()
        answer = answers.pop(0) if answers else False
        if isinstance(answer, RetriableError):
            raise answer
        return answer

    world = World(stream=replace(STREAM, renew=renew))
    world.rounds(lambda: len(answers) == 3)
    tried = world.calls.tried()
    assert tried is not None
    assert str(tried.error) == "customers is away"
    assert not world.begun
    world.rounds(lambda: len(world.begun) == 2)
    assert (world.stopped, answers, world.calls.tried()) == (1, [], None)
    answers.append(RetriableError("customers is away"))
    world.rounds(lambda: len(world.begun) == 3)
    assert world.stopped == 2
