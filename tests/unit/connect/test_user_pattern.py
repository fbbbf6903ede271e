"""Patterns that users give, matched within a limit of time."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest
from copycat_connect.config.user_pattern import (
    MAX_MATCHED_CHARACTERS,
    PatternTooSlowError,
    UserPattern,
    compile_user_pattern,
)

HOSTILE, TEXT = "(a|aa)+$b", "a" * 100
#: Python's engine takes longer than a day for each of them, the one that is used for some.
OTHERS = (
    ("(a+)+b", "a" * 40),
    (r"(a|a?)+\d", "a" * 100),
    (r"([a-z]+\.?)*\.!", "ab." * 60 + "."),
    (r"(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[^a]", "a" * 2000),
)


def pattern(written: str) -> UserPattern:
    return compile_user_pattern("topics.regex", written)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("written", "text"), OTHERS)
def test_every_match_comes_to_an_end(written: str, text: str) -> None:
    for attempt in (pattern(written).fullmatch, pattern(written).search, pattern(written).match):
        with suppress(PatternTooSlowError):
            assert attempt(text) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("how", ["fullmatch", "search", "match"])
def test_a_pattern_that_does_not_come_to_an_end_is_an_error_with_key_and_fix(how: str) -> None:
    with pytest.raises(PatternTooSlowError) as raised:
        getattr(pattern(HOSTILE), how)(TEXT)
    assert raised.value.fields == {"key": "topics.regex", "pattern": HOSTILE}
    assert raised.value.message.startswith(f"topics.regex has '{HOSTILE}'")
    assert "Write it without repetitions in each other" in raised.value.message
    assert TEXT not in raised.value.message


@pytest.mark.timeout(60)
def test_what_took_too_long_once_is_not_tried_again() -> None:
    hostile = pattern(HOSTILE)
    # A hundred seconds, were each of them tried to the end.
    for _ in range(100):
        with pytest.raises(PatternTooSlowError):
            hostile.fullmatch(TEXT)
    assert hostile.fullmatch("b") is None


@pytest.mark.timeout(60)
def test_other_threads_go_on_while_a_match_takes_long() -> None:
    counted, ended = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.wait(0.001):
            counted += 1

    other = threading.Thread(target=count)
    other.start()
    try:
        with pytest.raises(PatternTooSlowError):
            pattern(HOSTILE).fullmatch(TEXT)
    finally:
        ended.set()
        other.join()
    # It has a second of processor time; one that kept the interpreter would leave none.
    assert counted > 10


@pytest.mark.timeout(60)
def test_a_long_text_is_matched_and_one_that_is_too_long_is_not_waited_for() -> None:
    assert pattern(r"(?<first>\S+) .*").fullmatch("a " + "b" * MAX_MATCHED_CHARACTERS)
    with pytest.raises(PatternTooSlowError):
        pattern(r"\s+$").search(" " * (MAX_MATCHED_CHARACTERS + 1) + "x")


def test_groups_are_known_by_number_and_name() -> None:
    found = pattern("(?<first>a)(b)")
    assert (found.groups, dict(found.groupindex)) == (2, {"first": 1})
    match = found.fullmatch("ab")
    assert match is not None
    assert match.groups() == ("a", "b")
