"""What is noted of a task's calls."""

from __future__ import annotations

import pytest
from copycat_executor.pipeline.task.call_log import CallLog, FailedTries, OpenCall

from tests.unit.pipeline.fakes import Clock


def log() -> tuple[CallLog, Clock]:
    clock = Clock()
    return CallLog(clock), clock


def test_a_call_is_open_until_it_returns_or_raises() -> None:
    calls, clock = log()
    clock.now = 3.0
    with pytest.raises(KeyError), calls("put"):
        assert calls.open == OpenCall("put", 3.0)
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
        assert calls.open == OpenCall("poll", clock.now)
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
