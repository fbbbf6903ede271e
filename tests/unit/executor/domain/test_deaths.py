"""Who of several is suspected of the deaths of what they shared."""

from __future__ import annotations

from copycat_executor.domain.deaths import MEMORY_SECONDS, Suspicions, parts

NONE: Suspicions[str] = Suspicions()


def test_everybody_who_was_there_is_suspected_of_a_death() -> None:
    after = NONE.after("abc", 0.0)
    assert [after.count(each) for each in "abcd"] == [1, 1, 1, 0]


def test_who_goes_on_while_the_others_die_again_is_cleared() -> None:
    after = NONE.after("abc", 0.0).after("bc", 1.0)
    assert [after.count(each) for each in "abc"] == [0, 2, 2]


def test_who_dies_alone_clears_all_that_died_with_it() -> None:
    after = NONE.after("abc", 0.0).after("ab", 1.0).after("a", 2.0)
    assert [after.count(each) for each in "abc"] == [3, 0, 0]


def test_a_death_of_others_explains_nothing() -> None:
    after = NONE.after("ab", 0.0).after("cd", 1.0)
    assert [after.count(each) for each in "abcd"] == [1, 1, 1, 1]


def test_the_foremost_is_suspected_most() -> None:
    after = NONE.after("ab", 0.0).after("bc", 1.0)
    assert [after.foremost(each) for each in "abc"] == [False, True, False]
    assert NONE.foremost("a")


def test_a_death_is_forgotten_after_a_while() -> None:
    after = NONE.after("ab", 0.0).after("c", MEMORY_SECONDS)
    assert [after.count(each) for each in "abc"] == [0, 0, 1]


def test_a_death_is_forgotten_also_where_nobody_dies_any_more() -> None:
    after = NONE.after("ab", 0.0)
    assert after.recent(MEMORY_SECONDS - 1) == after
    assert after.recent(MEMORY_SECONDS) == NONE


def test_who_left_is_suspected_of_nothing() -> None:
    assert NONE.after("a", 0.0).without("a") == NONE


def test_suspects_are_divided_so_that_the_most_suspected_stand_apart() -> None:
    after = NONE.after("ab", 0.0).after("bc", 1.0)
    assert parts("abcd", after, 2) == [["b", "a"], ["c", "d"]]
    assert parts("abcd", after, 3) == [["b", "d"], ["c"], ["a"]]
    assert parts("a", after, 4) == [["a"]]
    assert parts("", after, 4) == []
