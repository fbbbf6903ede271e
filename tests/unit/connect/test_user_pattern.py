"""Patterns that users give: written for Java, matched within a limit of time."""

from __future__ import annotations

import re
import threading
from contextlib import suppress

import pytest
from copycat_connect.config.user_pattern import (
    MAX_MATCHED_CHARACTERS,
    PatternTooSlowError,
    UserPattern,
    compile_user_pattern,
)
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?<name>a+)\\k<name>", "aa"),
        ("\\Qa.b\\E+", "a.bb"),
        ("\\p{Alpha}\\p{Digit}", "x7"),
        ("[\\p{Upper}_]+", "A_B"),
        ("\\P{Digit}", "x"),
        ("a++b", "aab"),
        ("bc(?<=a|bc)d", "bcd"),
        ("(?i)topic-.*", "Topic-1"),
        ("[a-z&]+", "a&"),
        ("[a-z&&[^b]]+", "ac"),
        ("[[ab][x]]+", "xa"),
        ("\\d+\\z", "12"),
    ],
)
def test_java_spellings_work(pattern: str, text: str) -> None:
    assert compile_user_pattern("topics.regex", pattern).fullmatch(text)


def test_digits_are_ascii_as_in_java() -> None:
    assert not compile_user_pattern("topics.regex", "\\d").fullmatch("٣")


@pytest.mark.parametrize(
    ("pattern", "text", "other"),
    [
        (r"\p{Lu}", "É", "é"),
        (r"\p{L}+", "aé", "1"),
        (r"\pL", "Σ", "1"),
        (r"\p{IsGreek}", "Σ", "S"),
        (r"\p{script=Grek}", "Σ", "S"),
        (r"\p{InCyrillic}", "Я", "R"),
        (r"\p{IsAlphabetic}", "Σ", "1"),
        (r"\p{javaUpperCase}", "É", "é"),
        (r"\P{javaUpperCase}", "é", "É"),
        (r"[\p{L}&&[^\p{Lu}]]+", "éa", "É"),
        (r"(?U)\w+", "é٣", "-"),
        (r"(?U)\p{Upper}", "É", "é"),
        (r"\w+", "a_1", "é"),
        (r"\x{1F600}", "😀", "x"),
        (r"\x{41}", "A", "a"),
        (r"(?u)(?i)é", "É", "e"),
        (r"(?iu)É", "é", "e"),
        (r"(?i)é", "é", "É"),
        (r"a(?i)b|c", "C", "Ab"),
        (r"(a(?i)b)c", "aBc", "aBC"),
        (r"(?i:a)b", "Ab", "AB"),
        (r"(?x)a b # all", "ab", "a b"),
        (r"\N{GREEK SMALL LETTER ALPHA}", "\u03b1", "a"),
        (r"a.b", "a-b", "a\rb"),
        (r"\0101\cA", "A\x01", "A"),
    ],
)
def test_unicode_properties_and_flags_work_as_in_java(pattern: str, text: str, other: str) -> None:
    assert compile_user_pattern("topics.regex", pattern).fullmatch(text)
    assert not compile_user_pattern("topics.regex", pattern).fullmatch(other)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "Unclosed group near index 1\n("),
        ("[", "Unclosed character class near index 0\n[\n^"),
        ("a)", "Unmatched closing ')' near index 0\na)\n^"),
        ("*a", "Dangling meta character '*' near index 0\n*a\n^"),
        ("{", "Illegal repetition near index 1\n{"),
        (r"\y", "Illegal/unsupported escape sequence near index 1\n\\y\n ^"),
        (r"\p{Nope}", "Unknown character property name {Nope} near index 7\n\\p{Nope}\n       ^"),
        (r"\x{110000}", "Hexadecimal codepoint is too big near index 8\n\\x{110000}\n        ^"),
        ("(?q)", "Unknown inline modifier near index 2\n(?q)\n  ^"),
        ("[z-a]", "Illegal character range near index 3\n[z-a]\n   ^"),
        (r"\X", "\\X has no counterpart in this engine near index 1\n\\X\n ^"),
    ],
)
def test_what_is_wrong_with_an_expression_is_reported_in_java_s_words(pattern: str, message: str) -> None:
    with pytest.raises(re.error) as raised:
        compile_user_pattern("topics.regex", pattern)
    assert str(raised.value) == message


@pytest.mark.parametrize("pattern", [r"(a)(?<=\1)b", r"(a)(?<!\1)d"])
def test_what_has_no_counterpart_is_refused(pattern: str) -> None:
    with pytest.raises(re.error):
        compile_user_pattern("topics.regex", pattern)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pattern",
    [
        "(?:" * 40 + "a" + "){1,9}" * 40,  # the engine doubles what it compiles with each of them
        "(" * 20_000 + ")" * 20_000,
        "[" * 20_000 + "a" + "]" * 20_000,
        "a{" + "9" * 5000 + "}",
        "a{1," + "9" * 5000 + "}",
        "a|" * 60_000,
        r"\p{L}" * 5000,
        "(?iu)" + "".join(f"[\\x{{{low:x}}}-\\x{{{low + 0x4000:x}}}]" for i in range(1000) for low in [i]),
        "[" + "".join(map(chr, range(0x4E00, 0x9E00, 2))) + "]" + r"[\p{L}&&\p{Lu}]" * 2000,
    ],
)
def test_no_expression_takes_long_to_compile(pattern: str) -> None:
    with suppress(re.error):
        compile_user_pattern("topics.regex", pattern)


def test_thousands_of_names_side_by_side_are_an_expression() -> None:
    names = [f"orders-of-region-{number}" for number in range(3000)]
    pattern = compile_user_pattern("topics.regex", "|".join(names))
    assert pattern.fullmatch(names[-1])
    assert not pattern.fullmatch("orders-of-region-x")


@given(st.text("abé[](){}*+?|^$.\\&-pPLu<>=!:iUdwQE1", max_size=12))
def test_no_expression_fails_with_another_error(pattern: str) -> None:
    with suppress(re.error):
        compile_user_pattern("topics.regex", pattern)


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
