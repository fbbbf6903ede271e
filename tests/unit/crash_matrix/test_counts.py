"""Numbers that arrive are compared with numbers that were sent: what is missing, what came again."""

from __future__ import annotations

import pytest
from copycat_testkit.arrivals import NumberSequence, Tally

from tools.crash_matrix.report import broken


def tally(*numbers: int) -> Tally:
    """Return what is wrong with numbers that arrived so."""
    sequence = NumberSequence()
    for number in numbers:
        sequence.take(number, created_ms=number)
    return sequence.tally


def test_nothing_is_wrong_with_all_numbers_in_order() -> None:
    assert tally(1, 2, 3) == Tally()


def test_numbers_that_never_came_are_lost_from_the_first_one_on() -> None:
    assert tally(3, 4, 6) == Tally(lost=3)


def test_a_number_that_came_before_is_repeated() -> None:
    assert tally(1, 2, 3, 2, 3, 3, 4) == Tally(repeated=3)


def test_a_number_that_comes_late_is_neither_lost_nor_repeated() -> None:
    assert tally(1, 3, 2) == Tally()
    assert tally(1, 3, 2, 2) == Tally(repeated=1)


def test_repetitions_are_arrivals_and_what_is_missing_is_none() -> None:
    sequence = NumberSequence()
    for number in (1, 2, 2, 5):
        sequence.take(number, created_ms=number)
    assert sequence.arrived == 4


def test_only_a_number_that_is_new_shows_that_records_flow() -> None:
    sequence = NumberSequence()
    sequence.take(1, created_ms=100)
    sequence.take(1, created_ms=200)
    assert sequence.created_ms == 100


@pytest.mark.parametrize(
    ("kind", "lost", "repeated"),
    [
        ("at_least_once", True, False),
        ("at_most_once", False, True),
        ("exactly_once", True, True),
        ("exactly_once_interval", True, True),
    ],
)
def test_each_guarantee_is_broken_by_what_it_excludes(kind: str, lost: bool, repeated: bool) -> None:
    assert broken(kind, Tally(lost=1)) is lost
    assert broken(kind, Tally(repeated=1)) is repeated
    assert not broken(kind, Tally())
