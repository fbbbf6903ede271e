"""Which cases of a family run always."""

from __future__ import annotations

from typing import Any

import pytest
from copycat_testkit.sampling import sampled


def kept(cases: list[Any]) -> list[Any]:
    return [case for case in cases if not any(mark.name == "long" for mark in getattr(case, "marks", ()))]


@pytest.mark.parametrize(
    ("keep", "expected"),
    [(1, [0]), (2, [0, 9]), (4, [0, 3, 6, 9]), (10, list(range(10))), (50, list(range(10)))],
)
def test_the_kept_cases_are_spread_evenly(keep: int, expected: list[int]) -> None:
    assert kept(sampled(range(10), keep=keep)) == expected
    assert len(sampled(range(10), keep=keep)) == 10


def test_cases_of_several_values_and_with_marks_keep_them() -> None:
    pairs = sampled([(1, 2), (3, 4)], keep=1, several=True)
    marked = sampled([1, pytest.param(2, marks=pytest.mark.row("x"), id="two")], keep=1)

    assert pairs[1].values == (3, 4)
    assert (marked[1].id, [mark.name for mark in marked[1].marks]) == ("two", ["row", "long"])


def test_a_tuple_is_one_value_unless_it_is_said_to_be_several() -> None:
    assert sampled([(1, 2), (3, 4)], keep=1)[1].values == ((3, 4),)


def test_a_family_keeps_at_least_one_case() -> None:
    with pytest.raises(ValueError, match="keep is 0"):
        sampled([1], keep=0)
