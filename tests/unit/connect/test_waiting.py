"""Of what waits under one key only the newest goes on."""

import pytest
from copycat_connect.waiting import NewestWaiting


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
