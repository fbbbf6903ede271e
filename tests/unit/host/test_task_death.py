"""Whatever ends the thread of a task is reported, whatever its text."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.data import SourceRecord
from copycat_connect.error_text import MAX_CHARACTERS
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginKind, PluginSpec, SourceConnector, SourceTask, Transformation
from copycat_testkit.kafka import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.host.host_world import FAILED, RUNNING, UNASSIGNED, QuietTask, World, spec


class PanicException(BaseException):
    """What pyo3 raises when compiled code panics."""


class Unreadable(Exception):
    """Its text cannot be read."""

    def __str__(self) -> str:
        raise SystemExit(4)


ERRORS: Mapping[str, Callable[[], BaseException]] = {
    "exit": lambda: SystemExit(3),
    "interrupt": KeyboardInterrupt,
    "cancelled": asyncio.CancelledError,
    "generator": GeneratorExit,
    "stop iteration": StopIteration,
    "panic": lambda: PanicException("called `Option::unwrap()` on a `None` value"),
    "name of a file": lambda: OSError(os.fsdecode(b"na\xff")),
    "unreadable": Unreadable,
    "nul": lambda: ValueError("a\0b"),
    "huge": lambda: ValueError("x" * 1_000_000),
    "caused by a panic": lambda: _caused(ValueError("outer"), PanicException("inner \udc80")),
}


def _caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


class DyingTask(SourceTask):
    """Raises `error` in the call that `place` names."""

    place = ""
    error: BaseException = ValueError()

    def __init__(self) -> None:
        self.die("made")

    def die(self, place: str) -> None:
        if place == DyingTask.place:
            raise DyingTask.error

    def initialize(self, context: Any) -> None:
        super().initialize(context)
        self.die("initialize")

    def start(self, config: Mapping[str, str]) -> None:
        self.die("start")

    def poll(self) -> list[SourceRecord] | None:
        self.die("poll")
        return [SourceRecord(None, None, "t", "value")]

    def stop(self) -> None:
        self.die("stop")


class DyingStep(Transformation):
    """Raises where it is configured, or applied."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        if DyingTask.place == "configure":
            raise DyingTask.error

    def apply(self, record: Any) -> Any:
        if DyingTask.place == "apply":
            raise DyingTask.error
        return None


def world(**facts: Any) -> World:
    described = spec("Dying", PluginKind.SOURCE, SourceConnector, DyingTask)
    step = PluginSpec("a.Step", PluginKind.TRANSFORMATION, "7", "", ConfigDef(), DyingStep)
    return World(PluginSpec(**{each: getattr(described, each) for each in NEEDED}, **facts), step)


NEEDED = ("class_name", "kind", "version", "summary", "config", "factory", "task_class_name", "task_factory")
STEP = {"transforms": "step", "transforms.step.type": "a.Step"}


def trace_of(it: World, place: str, error: BaseException, **config: str) -> str:
    """Have a task die of an error; returns the trace that was reported."""
    DyingTask.place, DyingTask.error = place, error
    it.start(**{"connector.class": "a.Dying", **STEP, **config})
    wait_until(lambda: FAILED in it.states(), 60)
    assert it.states() in ([FAILED], [RUNNING, FAILED])
    return it.last().trace


PLACES = ("made", "initialize", "start", "configure", "apply")


@pytest.mark.parametrize(
    ("place", "error"),
    [*(("poll", error) for error in ERRORS), *((place, "exit") for place in PLACES), ("start", "unreadable")],
)
def test_a_task_fails_whatever_its_code_raises(place: str, error: str) -> None:
    it = world()
    trace = trace_of(it, place, ERRORS[error]())
    assert type(DyingTask.error).__name__ in trace
    assert len(trace) <= MAX_CHARACTERS
    assert it.last().SerializeToString()


@pytest.mark.parametrize(
    ("place", "stage"), [("start", "START"), ("poll", "POLL"), ("apply", "TRANSFORMATION")]
)
def test_the_stage_is_that_of_the_call(place: str, stage: str) -> None:
    it = world()
    trace_of(it, place, SystemExit(3))
    assert it.last().stage == stage


def test_what_is_no_exception_is_never_tolerated() -> None:
    it = world()
    assert "SystemExit: 3" in trace_of(it, "apply", SystemExit(3), **{"errors.tolerance": "all"})


@given(st.text(st.characters()))
@settings(max_examples=10, deadline=None)
def test_a_task_fails_whatever_the_text_of_its_error(text: str) -> None:
    assert trace_of(world(), "poll", PanicException(text)).startswith(PanicException.__module__)


class ReadingHandler(logging.Handler):
    """Reads the text of each error, as some formatters do."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            str(record.exc_info[1])


@pytest.fixture
def reading_handler() -> Iterator[None]:
    handler = ReadingHandler()
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)


@pytest.mark.usefixtures("reading_handler")
@pytest.mark.parametrize("error", ["exit", "panic", "unreadable"])
def test_a_task_whose_stop_raises_has_stopped_all_the_same(error: str) -> None:
    it = world()
    DyingTask.place, DyingTask.error = "stop", ERRORS[error]()
    ref = it.start(**{"connector.class": "a.Dying", **STEP})
    it.wait_for(RUNNING)
    it.stop(ref)
    it.wait_for(RUNNING, UNASSIGNED)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_without_a_word_is_noticed_and_the_task_beside_it_runs_on() -> None:
    # What the plugin declares about its errors is no exception: to class the failure fails, too.
    it = world(failures={"no class": FailureKind.BUG})
    beside = it.start("beside")
    wait_until(lambda: it.states() == [RUNNING])
    DyingTask.place, DyingTask.error = "poll", SystemExit(3)
    it.start("dies", **{"connector.class": "a.Dying", **STEP})
    wait_until(lambda: FAILED in it.states(), 60)
    assert "The thread of the task has ended" in it.last().trace
    it.stop(beside)
    wait_until(lambda: it.states()[-1] == UNASSIGNED)


def test_a_poll_that_does_not_return_fails_its_task_by_the_connectors_bound_and_others_go_on() -> None:
    it = world()
    beside = it.start("beside")
    it.wait_for(RUNNING)
    QuietTask.gate.clear()
    assert QuietTask.hanging.wait(60)
    it.start(**{"task.poll.timeout.ms": "100"})
    try:
        wait_until(lambda: FAILED in it.states(), 60)
        assert (it.last().stage, it.last().failure_kind) == ("POLL", FailureKind.TRANSIENT.value)
        assert it.last().hangs
        assert "(task.poll.timeout.ms): at " in it.last().trace
        assert it.host.abandoned == ("c-0",)
    finally:
        QuietTask.gate.set()
    it.stop(beside)
    it.wait_for(RUNNING, RUNNING, FAILED, UNASSIGNED)
    assert it.finished.wait(60), "nobody is left"


def test_a_task_for_which_no_thread_can_be_had_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    it = world()

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        it.start()
    assert it.states() == [FAILED]
    assert it.last().failure_kind == FailureKind.RESOURCE.value
    assert "can't start new thread" in it.last().trace


def test_a_thread_that_has_just_begun_is_not_taken_for_one_that_has_ended() -> None:
    world, over = World(), threading.Event()

    def look() -> None:
        """A thread has its number a moment before it counts as alive: look then, too."""
        while not over.is_set():
            for task in list(world.host._tasks.values()):
                task.look_whether_it_lives()

    watching, interval = threading.Thread(target=look), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    watching.start()
    try:
        for number in range(100):
            world.start(f"c{number}")
        wait_until(lambda: len(world.states()) >= 100, what="a state of each")
    finally:
        over.set()
        watching.join()
        sys.setswitchinterval(interval)
    assert set(world.states()) == {RUNNING}
