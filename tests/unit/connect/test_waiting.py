"""Waiting: between tries, for a beat, for the first of several things, for the newest of one key."""

from __future__ import annotations

import asyncio
import itertools
import math

import pytest
from copycat_connect.beats import until_beat
from copycat_connect.first import first, unless
from copycat_connect.retry import RetryPolicy, TryCount
from copycat_connect.waiting import NewestWaiting
from hypothesis import given
from hypothesis import strategies as st

POLICY = RetryPolicy(first=0.3, ceiling=10.0, jitter=0.25)


def first_waits(count: int, policy: RetryPolicy, random: float = 0.0) -> list[float]:
    return list(itertools.islice(policy.waits(random), count))


@pytest.mark.row("KRETRY-09", "KRETRY-T02")
def test_waits_grow_from_the_first_by_the_factor() -> None:
    assert [POLICY.wait(retries) for retries in range(5)] == [0.3, 0.6, 1.2, 2.4, 4.8]
    assert first_waits(5, POLICY) == [0.3, 0.6, 1.2, 2.4, 4.8]


@pytest.mark.row("KRETRY-04")
def test_a_factor_of_one_waits_constantly() -> None:
    policy = RetryPolicy(first=0.3, factor=1.0)

    assert policy.wait(0) == policy.wait(9) == 0.3


@pytest.mark.row("KRETRY-10", "KRETRY-T02")
def test_no_first_wait_is_no_wait_ever() -> None:
    assert RetryPolicy(first=0.0, ceiling=10.0, jitter=0.25).wait(2**31 - 1, 1.0) == 0.0


@pytest.mark.row("KRETRY-10", "KRETRY-T02")
def test_waits_never_exceed_the_ceiling_however_many_retries() -> None:
    assert POLICY.wait(2**31 - 1) == 10.0


@given(st.integers(0, 2**31 - 1), st.floats(0, 1))
@pytest.mark.row("KRETRY-09", "KRETRY-11", "KRETRY-T02")
def test_jitter_is_added_after_the_cap(retries: int, random: float) -> None:
    capped = POLICY.wait(retries)

    assert capped <= POLICY.wait(retries, random) <= capped * 1.25


def test_one_random_number_stretches_all_waits() -> None:
    assert first_waits(3, RetryPolicy(first=1.0, jitter=0.5), 1.0) == [1.5, 3.0, 6.0]


def test_it_gives_up_after_so_many_retries() -> None:
    assert list(RetryPolicy(first=1.0, max_retries=2).waits()) == [1.0, 2.0]
    assert list(RetryPolicy(first=1.0, max_retries=0).waits()) == []


def test_it_gives_up_after_so_long_and_the_last_wait_ends_there() -> None:
    assert list(RetryPolicy(first=1.0, give_up_after=4.0).waits()) == [1.0, 2.0, 1.0]


def test_tries_are_counted_until_there_are_too_many_in_a_row_or_one_succeeds() -> None:
    tries = TryCount(3)

    assert [tries.fail(), tries.fail()] == [True, True]
    tries.succeed()
    assert [tries.fail(), tries.fail(), tries.fail(), tries.fail()] == [True, True, False, False]
    assert tries.failed == 4


def test_any_number_of_tries_may_be_allowed() -> None:
    tries = TryCount(None)

    assert all(tries.fail() for _ in range(1000))


INTERVALS = st.sampled_from((0.25, 0.5, 1.0, 2.0))


@given(st.floats(min_value=0, max_value=1e7), INTERVALS)
def test_a_wait_is_never_longer_than_the_interval(now: float, interval: float) -> None:
    assert 0 < until_beat(now, interval) <= interval


@given(st.floats(min_value=0, max_value=1e6), st.floats(min_value=0, max_value=0.2), INTERVALS)
def test_who_begins_to_wait_later_wakes_at_a_beat_of_the_others(
    now: float, later: float, interval: float
) -> None:
    one, other = now + until_beat(now, interval), now + later + until_beat(now + later, interval)
    beats = (other - one) / interval
    assert math.isclose(beats, round(beats), abs_tol=1e-6)


class Endless:
    """Goes on until it is cancelled, and then takes a moment to end."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = False

    async def run(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.ended = True


async def number(value: int) -> int:
    return value


async def failing() -> None:
    raise ValueError("odd")


async def test_what_is_first_has_a_result_and_the_rest_has_ended() -> None:
    endless = Endless()

    lost, won = await first(endless.run(), number(3))

    assert (won.cancelled(), won.result()) == (False, 3)
    assert lost.cancelled()
    assert endless.ended


async def test_things_done_at_the_same_time_all_have_results() -> None:
    assert [task.result() for task in await first(number(1), number(2))] == [1, 2]


async def test_a_failure_is_the_callers_to_ask_for() -> None:
    failed, lost = await first(failing(), Endless().run())

    assert lost.cancelled()
    with pytest.raises(ValueError, match="odd"):
        failed.result()


async def test_who_is_cancelled_leaves_nothing_running() -> None:
    one, other = Endless(), Endless()
    waiting = asyncio.create_task(first(one.run(), other.run()))
    await one.began.wait()
    await other.began.wait()

    waiting.cancel()
    await asyncio.wait((waiting,))

    assert waiting.cancelled()
    assert (one.ended, other.ended) == (True, True)


async def test_work_is_given_up_when_its_event_comes_first() -> None:
    event, endless = asyncio.Event(), Endless()
    event.set()

    assert await unless(number(1), asyncio.Event())
    assert not await unless(endless.run(), event)
    with pytest.raises(ValueError, match="odd"):
        await unless(failing(), asyncio.Event())


@pytest.fixture
def waiting() -> NewestWaiting[str, list[int]]:
    return NewestWaiting()


def test_a_newer_value_replaces_the_one_that_waits(waiting: NewestWaiting[str, list[int]]) -> None:
    older, newer = {"a": [1], "b": [1]}, {"a": [2]}

    assert waiting.put(older) == frozenset()
    assert waiting.put(newer) == {"a"}
    assert waiting.remaining(older) == {"b": [1]}
    assert waiting.remaining(newer) == newer


def test_what_is_done_leaves_a_newer_value_waiting(waiting: NewestWaiting[str, list[int]]) -> None:
    older: dict[str, list[int]] = {"a": [1]}
    newer: dict[str, list[int]] = {"a": [1]}  # equal, and yet another report
    waiting.put(older)
    waiting.put(newer)

    waiting.done(older)
    assert waiting.remaining(newer) == newer

    waiting.done(newer)
    assert not waiting


def test_values_are_taken_in_the_order_in_which_they_came(waiting: NewestWaiting[str, list[int]]) -> None:
    waiting.put({"a": [1], "b": [1], "c": [1]})
    waiting.put({"a": [2]})

    assert list(waiting.oldest(2)) == ["b", "c"]
    assert list(waiting.oldest(9)) == ["b", "c", "a"]


def test_what_is_forgotten_waits_no_more_even_while_somebody_sends_it(
    waiting: NewestWaiting[str, list[int]],
) -> None:
    sent = {"a": [1], "b": [1]}
    waiting.put(sent)

    waiting.forget(lambda key: key == "a")

    assert waiting.remaining(sent) == {"b": [1]}
