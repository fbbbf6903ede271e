"""Regular expressions written for Java."""

from __future__ import annotations

import re

import pytest
from copycat_connect.config.java_regex import compile_java_regex


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


@pytest.mark.parametrize("pattern", ["[", "(", "\\p{Nope}"])
def test_what_cannot_be_compiled_is_refused(pattern: str) -> None:
    with pytest.raises(re.error):
        compile_java_regex(pattern)
