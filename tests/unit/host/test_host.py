"""Commands to a host, without Kafka, and its questions and queries to the executor."""

from __future__ import annotations

import logging
import threading

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConfigError, ConnectError, CopycatError, DataError, RetriableError
from copycat_executor.taskhost.host_questions import HostQueries, OffsetQuestions
from copycat_testkit.kafka import wait_until

from tests.unit.host.host_world import FAILED, PAUSED, RUNNING, UNASSIGNED, QuietTask, World


def test_a_task_runs_until_it_is_stopped_and_says_its_version() -> None:
    world = World()
    ref = world.start()
    world.wait_for(RUNNING)

    world.stop(ref)

    world.wait_for(RUNNING, UNASSIGNED)
    assert (world.last().task, world.last().version) == (ref, "7")


def test_a_task_is_paused_and_resumed() -> None:
    world = World()
    ref = world.start()
    world.wait_for(RUNNING)

    world.set_state(ref, types_pb2.TARGET_STATE_PAUSED)
    world.wait_for(RUNNING, PAUSED)
    world.set_state(ref, types_pb2.TARGET_STATE_STARTED)

    world.wait_for(RUNNING, PAUSED, RUNNING)
    world.stop(ref)


def test_a_task_that_cannot_start_fails_alone() -> None:
    world = World()

    world.start("bad", broken="1")
    wait_until(lambda: world.states() == [FAILED])
    assert world.last().stage == "START"
    assert world.last().trace.startswith("ValueError: cannot start\n\tat start(")

    other = world.start("good")
    world.wait_for(FAILED, RUNNING)
    world.stop(other)


def test_stopping_a_task_that_ended_is_answered() -> None:
    world = World()

    world.stop(pb.TaskRef(connector="gone", start=4))

    assert world.states() == [UNASSIGNED]


def test_a_task_that_hangs_is_given_up_and_says_no_more() -> None:
    world = World()
    ref = world.start()
    world.wait_for(RUNNING)
    QuietTask.gate.clear()
    assert QuietTask.hanging.wait(60)

    world.stop(ref, timeout_ms=200)
    world.wait_for(RUNNING, FAILED)
    assert (world.last().stage, world.last().hangs, world.host.abandoned) == ("STOP", True, ("c-0",))
    assert world.finished.wait(60)

    said = len(world.said)
    QuietTask.gate.set()
    wait_until(lambda: not _alive("task-c-0"))
    assert len(world.said) == said


def test_a_shutdown_ends_all_tasks_and_the_stream() -> None:
    world = World()
    world.start("a")
    world.start("b")
    world.wait_for(RUNNING, RUNNING)

    world.host.obey(pb.AttachResponse(shutdown=pb.Shutdown(timeout_ms=60_000)))

    assert world.finished.wait(60)
    world.wait_for(RUNNING, RUNNING, UNASSIGNED, UNASSIGNED)


def test_without_its_executor_every_task_ends_soon() -> None:
    world = World()
    world.start()
    world.wait_for(RUNNING)

    world.host.lose_executor()

    assert not _alive("task-c-0")


@pytest.mark.parametrize(
    ("level", "number"),
    [
        ("OFF", 60),
        ("FATAL", logging.CRITICAL),
        ("WARN", logging.WARNING),
        ("TRACE", 5),
        ("ALL", 1),
        ("nonsense", logging.NOTSET),
    ],
)
def test_log_levels_have_javas_names(level: str, number: int) -> None:
    name = f"some.logger.{level}"

    World().host.obey(pb.AttachResponse(set_level=pb.SetLevel(logger=name, level=level)))

    assert logging.getLogger(name).level == number


def _alive(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())


REF = pb.TaskRef(connector="c")


class AskedQuestions:
    """Answers each question as the test says."""

    def __init__(self, **answer: object) -> None:
        self.questions = OffsetQuestions(self.hear)
        self.answer = answer

    def hear(self, event: pb.AttachRequest) -> None:
        found = pb.OffsetsFound(sequence=event.offsets_wanted.sequence, **self.answer)  # type: ignore[arg-type]
        threading.Thread(target=self.questions.answer, args=(found,)).start()


def test_answers_come_in_the_order_asked() -> None:
    asked = AskedQuestions(
        offsets=[types_pb2.SourceOffset(partition=b"a", offset=b"1"), types_pb2.SourceOffset(partition=b"b")]
    )

    assert asked.questions.ask(REF, [b"a", b"b"]) == [b"1", None]


def test_a_question_that_cannot_be_answered_may_be_asked_again() -> None:
    with pytest.raises(RetriableError, match="no leader"):
        AskedQuestions(error="no leader").questions.ask(REF, [b"a"])


def test_nobody_waits_for_an_executor_that_is_gone() -> None:
    questions = OffsetQuestions(lambda _: threading.Thread(target=lambda: questions.abandon()).start())  # noqa: PLW0108  # not bound yet

    with pytest.raises(RetriableError, match="gone"):
        questions.ask(REF, [b"a"])


def test_an_answer_nobody_waits_for_is_dropped() -> None:
    OffsetQuestions(lambda _: None).answer(pb.OffsetsFound(sequence=99))


class AskedQueries:
    """Answers each query as the test says."""

    def __init__(self, **answer: object) -> None:
        self.queries = HostQueries(self.hear)
        self.wanted: list[pb.QueryWanted] = []
        self._answer = answer

    def hear(self, event: pb.AttachRequest) -> None:
        self.wanted.append(event.query_wanted)
        answered = pb.QueryAnswered(sequence=event.query_wanted.sequence, **self._answer)  # type: ignore[arg-type]
        threading.Thread(target=self.queries.answer, args=(answered,)).start()


def test_a_query_is_prepared_without_records_and_run_with_them() -> None:
    asked = AskedQueries(schema="id INT", rows=b"rows")

    assert asked.queries.prepare("SELECT 1", "value INT") == "id INT"
    assert asked.queries.run("SELECT 1", "value INT", b"") == b"rows"
    assert [(each.sql, each.columns, each.HasField("batch")) for each in asked.wanted] == [
        ("SELECT 1", "value INT", False),
        ("SELECT 1", "value INT", True),
    ]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("config.invalid", ConfigError),
        ("connect.data", DataError),
        ("connect.retriable", RetriableError),
        ("connect.failed", ConnectError),
        ("unheard.of", ConnectError),
    ],
)
def test_a_refusal_is_the_error_its_code_says(code: str, error: type[CopycatError]) -> None:
    with pytest.raises(error, match="because") as refused:
        AskedQueries(error="because", error_code=code).queries.run("s", "c", b"")
    assert type(refused.value) is error


def test_no_query_waits_for_an_executor_that_is_gone() -> None:
    queries = HostQueries(lambda _: threading.Thread(target=lambda: queries.abandon()).start())  # noqa: PLW0108  # not bound yet

    with pytest.raises(RetriableError, match="gone"):
        queries.prepare("s", "c")
