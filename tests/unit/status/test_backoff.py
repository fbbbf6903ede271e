"""The waits of the retry KIP."""

from copycat_status.domain.backoff import Backoff
from hypothesis import given
from hypothesis import strategies as st


def test_waits_grow_from_the_first_by_the_factor() -> None:
    waits = [Backoff().wait(retries, 0.0) for retries in range(5)]

    assert waits == [0.3, 0.6, 1.2, 2.4, 4.8]


def test_a_factor_of_one_waits_constantly() -> None:
    backoff = Backoff(multiplier=1.0)

    assert backoff.wait(0, 0.0) == backoff.wait(9, 0.0) == 0.3


def test_no_first_wait_is_no_wait_ever() -> None:
    assert Backoff(initial=0.0).wait(2**31 - 1, 1.0) == 0.0


def test_waits_never_exceed_the_ceiling_however_many_retries() -> None:
    assert Backoff().wait(2**31 - 1, 0.0) == 10.0


@given(st.integers(0, 2**31 - 1), st.floats(0, 1))
def test_jitter_is_added_after_the_cap(retries: int, random: float) -> None:
    capped = Backoff(jitter=0.0).wait(retries, random)

    assert capped <= Backoff().wait(retries, random) <= capped * 1.25
