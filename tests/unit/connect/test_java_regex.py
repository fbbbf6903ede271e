"""Regular expressions written for Java."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from copycat_connect.config.java_regex import compile_java_regex
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
        ("(?i)topic-.*", "Topic-1"),
        ("[a-z&]+", "a&"),
        ("[a-z&&[^b]]+", "ac"),
        ("[[ab][x]]+", "xa"),
        ("\\d+\\z", "12"),
    ],
)
def test_java_spellings_work(pattern: str, text: str) -> None:
    assert compile_java_regex(pattern).fullmatch(text)


def test_digits_are_ascii_as_in_java() -> None:
    assert not compile_java_regex("\\d").fullmatch("٣")


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
    assert compile_java_regex(pattern).fullmatch(text)
    assert not compile_java_regex(pattern).fullmatch(other)


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
        compile_java_regex(pattern)
    assert str(raised.value) == message


@pytest.mark.parametrize("pattern", ["(?<=a+)b", "(?<=a|bc)d"])
def test_what_has_no_counterpart_is_refused(pattern: str) -> None:
    with pytest.raises(re.error):
        compile_java_regex(pattern)


@given(st.text("abé[](){}*+?|^$.\\&-pPLu<>=!:iUdwQE1", max_size=12))
def test_no_expression_fails_with_another_error(pattern: str) -> None:
    with suppress(re.error):
        compile_java_regex(pattern)
