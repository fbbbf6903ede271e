"""What keeps a task from moving, found from its calls and its thread."""

from __future__ import annotations

import threading

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.errors import RetriableError
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.taskhost.progress_watch import overdue_call, trouble_of

from tests.unit.pipeline.fakes import Clock

EPOCH = 1_000_000.0
PATIENCE = 30.0


def found(calls: CallLog, thread: int | None = None, patience: float = PATIENCE) -> pb.Trouble | None:
    return trouble_of(calls, thread, patience, EPOCH)


@pytest.mark.parametrize("call", ["start", "put", "pre_commit", "deliver"])
def test_a_call_hangs_once_it_takes_longer_than_it_may(call: str) -> None:
    clock = Clock()
    calls, began = CallLog(clock), clock.now
    with calls(call):
        clock.now += PATIENCE
        assert found(calls) is None
        clock.now += 1.0
        trouble = found(calls)
        assert trouble is not None
        assert (trouble.kind, trouble.call) == (pb.TROUBLE_KIND_HANGS, call)
        assert trouble.since_ms == int((EPOCH + began) * 1000)
        assert found(calls, patience=0.0) is None
    assert found(calls) is None


@pytest.mark.parametrize("call", ["start", "open", "put", "pre_commit", "commit"])
def test_a_call_into_the_code_of_a_task_is_given_up_at_its_limit(call: str) -> None:
    clock = Clock()
    calls = CallLog(clock)
    with calls(call):
        clock.now += 900.0
        assert overdue_call(calls, 900.0, 1.0) is None
        clock.now += 1.0
        assert overdue_call(calls, 900.0, 1.0) == (call, 900.0)
        assert overdue_call(calls, 0.0, 1.0) is None
    assert overdue_call(calls, 900.0, 1.0) is None


def test_a_poll_is_given_up_at_a_limit_of_its_own_which_longer_ones_that_came_back_extend() -> None:
    clock = Clock()
    calls = CallLog(clock)
    with calls("poll"):
        clock.now += 3600.0
        assert overdue_call(calls, 900.0, 3600.0) is None
        clock.now += 1.0
        assert overdue_call(calls, 900.0, 3600.0) == ("poll", 3600.0)
        assert overdue_call(calls, 900.0, 0.0) is None
    with calls("poll"):
        clock.now += 3 * 3601.0
        assert overdue_call(calls, 900.0, 3600.0) is None
        clock.now += 1.0
        assert overdue_call(calls, 900.0, 3600.0) == ("poll", 3 * 3601.0)


def test_a_poll_that_waits_through_its_context_is_never_given_up() -> None:
    clock = Clock()
    calls = CallLog(clock)

    def wait(seconds: float) -> bool:
        clock.now += seconds
        assert overdue_call(calls, 900.0, 3600.0) is None
        return False

    with calls("poll"):
        calls.rest(wait, 1e6)
        assert overdue_call(calls, 900.0, 3600.0) is None


@pytest.mark.parametrize("call", ["read", "deliver"])
def test_a_call_that_may_wait_for_others_is_never_given_up(call: str) -> None:
    clock = Clock()
    calls = CallLog(clock)
    with calls(call):
        clock.now += 1e6
        assert overdue_call(calls, 900.0, 3600.0) is None


def test_a_poll_may_take_three_times_as_long_as_one_that_came_back() -> None:
    clock = Clock()
    calls = CallLog(clock)
    with calls("poll"):
        clock.now += 20.0
    with calls("poll"):
        clock.now += 60.0
        assert found(calls) is None
        clock.now += 1.0
        assert found(calls) is not None


def test_it_says_where_the_author_waits() -> None:
    clock, begun, ended = Clock(), threading.Event(), threading.Event()
    calls = CallLog(clock)

    def poll_of_the_author() -> None:
        begun.set()
        ended.wait()

    thread = threading.Thread(target=poll_of_the_author)
    thread.start()
    begun.wait()
    try:
        with calls("poll"):
            clock.now += 31.0
            trouble = found(calls, thread.ident)
    finally:
        ended.set()
        thread.join()
    assert trouble is not None
    assert trouble.text.startswith("at ")
    assert "(threading.py:" in trouble.text
    assert "/" not in trouble.text


def test_a_call_that_fails_for_a_second_is_told_with_its_last_error_and_its_tries() -> None:
    clock = Clock()
    calls = CallLog(clock)
    calls.failed("put", RetriableError("first"))
    assert found(calls) is None
    clock.now += 1.0
    error = RetriableError("the database is away")
    error.__cause__ = ConnectionRefusedError(111, "refused")
    calls.failed("put", error)
    trouble = found(calls)
    assert trouble is not None
    assert (trouble.kind, trouble.call, trouble.tries) == (pb.TROUBLE_KIND_RETRIES, "put", 2)
    assert trouble.text == (
        "RetriableException: the database is away; caused by ConnectionRefusedError: [Errno 111] refused"
    )
    assert found(calls) == trouble, "what has not changed is told in the same words"
    calls.worked("put")
    assert found(calls) is None


def test_what_a_task_says_it_waits_for_is_told_after_a_second_until_it_is_there() -> None:
    clock = Clock()
    calls, began = CallLog(clock), clock.now
    calls.wait_for("file a does not exist")
    assert found(calls) is None
    clock.now += 1.0
    calls.wait_for("file a does not exist")
    trouble = found(calls)
    assert trouble is not None
    assert (trouble.kind, trouble.text) == (pb.TROUBLE_KIND_WAITS, "file a does not exist")
    assert trouble.since_ms == int((EPOCH + began) * 1000)
    calls.failed("poll", RetriableError("the disk is away"))
    clock.now += 1.0
    told = found(calls)
    assert told is not None
    assert told.kind == pb.TROUBLE_KIND_RETRIES, "what fails counts before what is waited for"
    calls.worked("poll")
    calls.wait_for(None)
    assert found(calls) is None


@pytest.mark.parametrize("call", ["deliver", "commit offsets"])
def test_what_waits_for_kafka_says_so_and_not_where_in_our_code(call: str) -> None:
    clock = Clock()
    calls, began = CallLog(clock), clock.now
    calls.obstacle = lambda: "Kafka at 127.0.0.1:9092 takes nothing: no broker answers"
    with calls(call):
        assert found(calls) is None
        clock.now += PATIENCE + 1.0
        trouble = found(calls)
    assert trouble == pb.Trouble(
        kind=pb.TROUBLE_KIND_WAITS, since_ms=int((EPOCH + began) * 1000), text=calls.obstacle()
    )


def test_code_of_an_author_that_hangs_is_not_blamed_on_kafka() -> None:
    clock = Clock()
    calls = CallLog(clock)
    calls.obstacle = lambda: "no broker answers"
    with calls("poll"):
        clock.now += PATIENCE + 1.0
        trouble = found(calls)
    assert trouble is not None
    assert trouble.kind == pb.TROUBLE_KIND_HANGS
