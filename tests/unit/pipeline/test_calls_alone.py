"""Calls into one task never meet, whatever others want of it meanwhile (K26-26)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count

import pytest
from copycat_connect.data import SinkBatch, SourceRecord
from copycat_connect.plugin import SinkTask, SourceTask
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_testkit.conformance import watch_calls

from tests.unit.pipeline import sink_world, source_world
from tests.unit.pipeline.fakes import FakeMessage

RECORDS = 1000
pytestmark = pytest.mark.row("K26-26")


class OddTask(SourceTask):
    """Polls within a commit; hangs in a poll while a test wants it to."""

    def __init__(self) -> None:
        self.polls, self.go_on = threading.Event(), threading.Event()

    def start(self, config: Mapping[str, str]) -> None: ...

    def poll(self) -> list[SourceRecord] | None:
        self.polls.set()
        self.go_on.wait(60)
        return None

    def commit(self) -> None:
        self.poll()

    def stop(self) -> None: ...


class FlushingTask(SinkTask):
    """Is asked for a commit by the way of the base class."""

    def start(self, config: Mapping[str, str]) -> None: ...

    def put(self, records: SinkBatch) -> None: ...

    def stop(self) -> None: ...


@contextmanager
def disturbed(control: TaskControl) -> Iterator[None]:
    """Pause and resume a task and settle what nobody asked for, from four threads."""
    over = threading.Event()

    def disturb() -> None:
        for number in count():
            if over.wait(0.0002):
                return
            control.set_paused(number % 2 == 0)
            control.settle(Settlement(-number, "", stale=False))

    threads = [threading.Thread(target=disturb) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


def test_no_call_into_a_source_task_meets_another() -> None:
    world = source_world.World()
    for number in range(RECORDS):
        record = SourceRecord({"f": "x"}, {"p": number}, "t", "a")
        world.task.script += [[record], world.later(0.5)]
    met = watch_calls(world.task)
    world.commit_record = world.task.commit_record

    with disturbed(world.control):
        world.run()

    assert len(world.sender.values) == RECORDS
    assert {"start", "poll", "commit", "stop"} <= set(world.task.calls)
    assert met == []


def test_no_call_into_a_sink_task_meets_another() -> None:
    world = sink_world.World(*(FakeMessage(number, b"a") for number in range(RECORDS)))
    met = watch_calls(world.task)
    world.task.on_put = lambda: world.task.context.request_commit()  # noqa: PLW0108 - it comes with the run

    def stop_behind_the_last() -> None:
        if len(world.task.values) == RECORDS:
            world.control.stop()

    world.receiver.on_empty = stop_behind_the_last

    with disturbed(world.control):
        world.run(most=10)

    assert len(world.task.values) == RECORDS
    assert {"start", "open", "put", "pre_commit", "close", "stop"} <= set(world.task.calls)
    assert met == []


def test_a_call_that_meets_one_of_another_thread_or_its_own_is_found() -> None:
    task = OddTask()
    met = watch_calls(task)
    polling = threading.Thread(target=task.poll)
    polling.start()
    assert task.polls.wait(60)
    task.stop()
    task.go_on.set()
    polling.join(60)
    task.commit()

    assert met == ["stop during poll", "poll during commit"]


def test_a_flush_within_a_commit_is_the_tasks_own() -> None:
    task = FlushingTask()
    met = watch_calls(task)

    task.pre_commit({})

    assert met == []
