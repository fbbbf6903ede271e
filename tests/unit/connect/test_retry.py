"""How long is waited between tries."""

import itertools

import pytest
from copycat_connect.retry import RetryPolicy, TryCount
from hypothesis import given
from hypothesis import strategies as st

POLICY = RetryPolicy(first=0.3, ceiling=10.0, jitter=0.25)


def first(count: int, policy: RetryPolicy, random: float = 0.0) -> list[float]:
    return list(itertools.islice(policy.waits(random), count))


@pytest.mark.row("KRETRY-09", "KRETRY-T02")
def test_waits_grow_from_the_first_by_the_factor() -> None:
    assert [POLICY.wait(retries) for retries in range(5)] == [0.3, 0.6, 1.2, 2.4, 4.8]
    assert first(5, POLICY) == [0.3, 0.6, 1.2, 2.4, 4.8]


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
    assert first(3, RetryPolicy(first=1.0, jitter=0.5), 1.0) == [1.5, 3.0, 6.0]


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
