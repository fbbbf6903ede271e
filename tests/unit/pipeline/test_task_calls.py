"""Calls into a task: what is noted of them, what ends a wait for news, and that none meets another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count

import pytest
from copycat_connect.data import SinkBatch, SourceRecord
from copycat_connect.plugin import SinkTask, SourceTask
from copycat_executor.pipeline.task.call_log import CallLog, FailedTries, RunningCall
from copycat_executor.pipeline.task.control import Ending, Settlement, TaskControl
from copycat_testkit.conformance import watch_calls

from tests.unit.pipeline import sink_world, source_world
from tests.unit.pipeline.fakes import Clock, FakeMessage


def log() -> tuple[CallLog, Clock]:
    clock = Clock()
    return CallLog(clock), clock


def test_a_call_is_open_until_it_returns_or_raises() -> None:
    calls, clock = log()
    clock.now = 3.0
    with pytest.raises(KeyError), calls("put"):
        assert calls.open == RunningCall("put", 3.0)
        raise KeyError
    assert calls.open is None


def test_the_longest_poll_that_returned_is_known() -> None:
    calls, clock = log()
    for seconds in (1.0, 5.0, 2.0):
        with calls("poll"):
            clock.now += seconds
    with calls("put"):
        clock.now += 50.0
    assert calls.longest_poll == 5.0


def test_a_call_that_rests_by_its_own_wish_is_not_open_meanwhile_and_begins_anew() -> None:
    calls, clock = log()

    def wait(seconds: float) -> bool:
        assert calls.open is None
        clock.now += seconds
        return True

    with calls("poll"):
        assert calls.rest(wait, 60.0)
        assert calls.open == RunningCall("poll", clock.now)
    assert calls.tried() is None


def test_a_call_that_rests_while_it_handles_an_error_tries_again() -> None:
    calls, _ = log()
    with calls("put"):
        for _ in range(2):
            try:
                [].pop()
            except IndexError:
                calls.rest(lambda seconds: False, 1.0)
    tried = calls.tried()
    assert tried is not None
    assert (tried.name, tried.tries, str(tried.error)) == ("put", 2, "pop from empty list")


def test_the_call_that_fails_for_longest_counts_until_it_works() -> None:
    calls, clock = log()
    began = clock.now
    calls.failed("put", "first")
    clock.now += 1.0
    calls.failed("pre_commit", "no")
    calls.failed("put", "second")
    assert calls.tried() == FailedTries("put", began, 2, "second")
    calls.worked("put")
    assert calls.tried() == FailedTries("pre_commit", began + 1.0, 1, "no")
    calls.worked("pre_commit")
    assert calls.tried() is None


LONG_SECONDS = 60.0


def test_what_happened_before_the_wait_ends_it_at_once() -> None:
    control = TaskControl()
    happenings: tuple[Callable[[], None], ...] = (
        lambda: control.set_paused(True),
        lambda: control.settle(Settlement(1)),
        lambda: control.stop(Ending.DRAIN),
    )
    for happens in happenings:
        happens()
        began = time.monotonic()
        control.wait_for_news(LONG_SECONDS)
        assert time.monotonic() - began < LONG_SECONDS / 2


def test_news_is_told_once() -> None:
    control = TaskControl()
    control.set_paused(True)
    control.wait_for_news(LONG_SECONDS)
    began = time.monotonic()
    control.wait_for_news(0.05)
    assert time.monotonic() - began >= 0.05


def test_what_happens_meanwhile_ends_the_wait() -> None:
    control = TaskControl()
    waiting = threading.Thread(target=control.wait_for_news, args=(LONG_SECONDS,))
    waiting.start()
    control.set_paused(True)
    waiting.join(LONG_SECONDS / 2)
    assert not waiting.is_alive()


RECORDS = 1000


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


@pytest.mark.row("K26-26")
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


@pytest.mark.row("K26-26")
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


@pytest.mark.row("K26-26")
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


@pytest.mark.row("K26-26")
def test_a_flush_within_a_commit_is_the_tasks_own() -> None:
    task = FlushingTask()
    met = watch_calls(task)

    task.pre_commit({})

    assert met == []
