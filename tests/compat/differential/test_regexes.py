r"""Regular expressions beside java.util.regex: what matches whole, what is found first, what is refused how.

Left out are `\b` outside of ASCII, which Java 19 changed, and what has no counterpart.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.oracle import Oracle, differing

pytestmark = pytest.mark.long

TEXTS = (
    "", "orders-12", "a.bc", "ORDERS", "a.b", "aa", "AB", "a\n", "\r\n", "a", "b", "é", "É", "\u03b1", "Σ",
    "1", "٣", " ", "\n", "-", ".", "A", "B", "\xa0", "_", "😀", "ǅ", "\r", "$", "]", "&", "x", "z", "\x01",
    "\u2028", "c", "aé", "Éa", "ab", "aB", "Ab", "bc", "a1", "\u03b1Σ", "x-z", "aab", "abc", "a b", "éa\n",
    "1٣", "(a)", "bb", "b1", "zx.", "c\u2028",
)  # fmt: skip
WRITTEN = (
    r"orders-\d+", r"[a-c&&[^b]]x", r"\p{Alpha}+", r"(?i)ORDERS", r"a|ab", r"\Qa.b\E.*", r"(?<x>a)\k<x>",
    r"[[a-b][x]]", r"[^a[bc]]+", r"[^a-c&&[^b]]*", r"[\P{Alpha}&&[^0-9]]", r"[]a]+", r"[\]x-]*",
    r"[\h1]+", r"\h+", r"^a.*z$", r"a++b", r"(?>a|ab)c", r"\w+\.\w+", r"[^\p{Digit}]+", r"x*",
    r"\x41\u0042", r"a{2,3}", r"\R", r"[\Q-]\E]", r"a-c", r"[a-c&&b-x]+", r"\p{Lu}+", r"\p{L}*",
    r"\pL\pN?", r"\p{IsGreek}+", r"\p{InGreek}+", r"\p{script=Greek}", r"\p{sc=Grek}", r"\p{IsLatin}+",
    r"\p{javaUpperCase}+", r"\p{javaLowerCase}+", r"(?U)\w+", r"(?U)\d+", r"(?u)(?i)É", r"(?iu)éa",
    r"(?i)é", r"\x{1F600}", r"a(?i)b|c", r"(a(?i)b)c", r"(?i:a)b", r"(?-i)a", r"(?x)a b # c", r"(?s).+",
    r"(?m)^a$", r".", r"\p{IsAlphabetic}+", r"\p{IsUppercase}", r"\p{gc=Lu}", r"\p{LC}+",
    r"[\p{L}&&[^\p{Lu}]]+", r"\N{LATIN SMALL LETTER A}", r"\p{Punct}", r"(?U)\p{Punct}",
    r"(?U)\p{Alpha}+", r"(?U)\s", r"\s", r"\v", r"\V", r"\H", r"\S+", r"[^\W]+", r"\0101", r"\cA", r"\e",
    r"(a)(b)\2\1", r"(a)\11", r"\1a", r"a{2}{3}", r"{3}", r"\p{Sc}", r"\p{IsWhite_Space}",
    r"\p{javaWhitespace}", r"\p{Cntrl}", r"(?i)[a-c]+", r"(?i)[^a-c]+", r"(?iu)[à-ý]+", r"(?i)\p{Lu}+",
    r"(?i)\p{Upper}+", r"[a-z&&[def]]", r"[a-z&&d-f]+", r"[-a]", r"[a-]", r"[a-[bc]]+", r"\Z", r"a\z",
    r"$", r"a$", r"(?<=a|bc)b", r"(?<=a{1,2})b", r"(?<!a?)b", r"(?<=a+)b", r"(?<!(?:a|b{2,}))c",
)  # fmt: skip
REFUSED = (
    "(", "[", "a)", ")", "*a", "a**", "{", "a{", "a{1", "a{2,1}", r"\y", r"\p{Nope}", r"\p{IsNope}",
    r"\p{InNope}", r"\p{", r"\p{Lu", "[a", "[z-a]", "(?<a>x)(?<a>y)", r"\k<x>", "(?q)", "(?", "(?<",
    "(?<1>a)", "(?<a", "\\", r"\x{110000}", r"\xg", r"\u00", "[a&&]", "[&&]", r"[a\y]", r"[a-\d]", "(?i",
    r"\p{sc=Nope}", r"\N{NOPE}", "a{,2}", "a{1,2", "(?:a", "[[a]", "a|*", "(*)", "[]", "[^]", r"\p{}",
    r"[\b]", r"\c", r"\08", r"\8", r"(a)(?<=\1)b",
)  # fmt: skip
ATOMS = (
    "a", "b", "é", "1", "[a-b]", "[^a]", r"\w", r"\d", r"\p{L}", ".", "(a)", "(?:b|é)", "(?i)", r"\p{Lu}",
    r"[\p{L}&&[^a]]", "^", "$", "-", "|", "(", "[", ")", "*", "?", "+", "{2}", "{", "\\", "(?U)", "(?u)",
    "(?<n>a)", r"\k<n>", r"\1", "]", "}", "&&", "[a&&b]", "(?>a)", "++", r"\Q", r"\E", "(?m)", "(?x) ",
)  # fmt: skip


def _answer(regex: str) -> dict[str, Any]:
    try:
        pattern = compile_user_pattern("topics.regex", regex)
    except re.error as error:
        return {"error": str(error)}
    found = [pattern.search(text) for text in TEXTS]
    return {
        "whole": [pattern.fullmatch(text) is not None for text in TEXTS],
        "found": [None if each is None else each[0] for each in found],
    }


def _compare(oracle: Oracle, regexes: tuple[str, ...]) -> str:
    java = oracle.ask("matched", [{"regex": regex, "texts": TEXTS} for regex in regexes])
    ours = [_answer(regex) for regex in regexes]
    return differing([{"regex": regex} for regex in regexes], java, ours)


def test_regular_expressions_as_people_write_them_match_what_java_matches(oracle: Oracle) -> None:
    assert not _compare(oracle, WRITTEN)


def test_regular_expressions_are_refused_in_java_s_words(oracle: Oracle) -> None:
    assert not _compare(oracle, REFUSED)


def test_generated_regular_expressions_match_what_java_matches(oracle: Oracle) -> None:
    generated = gathered(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=5).map("".join), 800)
    assert not _compare(oracle, tuple(regex for regex in dict.fromkeys(generated) if r"\b" not in regex))
