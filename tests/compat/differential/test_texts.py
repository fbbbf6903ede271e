"""Texts beside Java's: of headers and values as in Kafka Connect, of dates, and regular expressions.

Dates are thousands of points in time of any year, written and read as by SimpleDateFormat. Of
java.util.regex it is what matches whole, what is found first, what is refused how; left out are word
boundaries outside of ASCII, which Java 19 changed, and what has no counterpart.
"""

from __future__ import annotations

import re
from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import ConnectValue, FarDate, FarTimestamp, Schema, SchemaType
from copycat_connect.data.java import class_name, float_text, to_text, to_text_under
from copycat_connect.data.logical import scale_of, unscaled
from copycat_connect.data.narrow import narrowed
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.values.date_pattern import DatePattern
from copycat_connect.values.parsing import parse_value
from copycat_connect.values.text import date_millis, value_to_text
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.converter_cases import WITHOUT_IDENTITIES, envelope
from tests.compat.differential.java_values import made
from tests.compat.differential.kafka_classes import Oracle, differing

pytestmark = pytest.mark.long

CASES = 600
NUMBERS = ("int8", "int16", "int32", "int64", "float32", "float64", "bytes")
_numbers = st.one_of(
    st.sampled_from((
        "0", "1", "-1", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648",
        "9223372036854775807", "9223372036854775808", "1.5", "2.5", "1.1", "0.1", "3.3", "1e10", "1e-5",
        "3.4e38", "3.5e38", "1e308", "1e400", "1.0", "-0.0", "16777217", "16777217.0", "1.100000023841858",
    )),
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-40000, 40000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
)  # fmt: skip
_texts = st.sampled_from(("true", "false", "null", '"x"', '"1"', "2024-02-29", "10:11:12.123Z"))
#: No booleans among numbers: in Python 0 and False are one key.
_keys = _numbers | st.sampled_from(('"x"', '"1"', "2024-02-29", "10:11:12.123Z"))
_elements = st.one_of(_numbers, _numbers, _numbers, _texts)
#: Without 64 bits: where the schema of a list is not what its lists say, Python cannot see the difference.
_narrow = st.sampled_from(
    ("0", "-7", "127", "128", "-129", "32767", "32768", "2147483647", "1.5", "-2.5", "0.1")
)
#: Lists and maps, mostly of numbers of several widths.
MIXED = st.one_of(
    st.lists(_numbers, min_size=1, max_size=4).map(lambda found: "[" + ",".join(found) + "]"),
    st.lists(_elements, max_size=4).map(lambda found: "[" + ", ".join(found) + "]"),
    st.lists(st.tuples(_keys, _elements), max_size=3).map(
        lambda found: "{" + ",".join(f"{key}:{item}" for key, item in found) + "}"
    ),
    st.lists(st.lists(_narrow, max_size=3), max_size=3).map(
        lambda found: "[" + ",".join("[" + ",".join(inner) + "]" for inner in found) + "]"
    ),
)
HEADERS = st.one_of(
    st.text("0123456789.-+eE", max_size=8),
    st.text('{}[],:"abc12 \\truefalsn', max_size=14),
    st.sampled_from(("true", "null", "2024-02-29", "10:11:12.123Z", "2024-02-29T10:11:12.123Z", "1e400")),
    st.sampled_from(("[1,2.5]", '{"a":1}', "NaN", "-Infinity", "[]", "{}", '"quoted"', "1,2", "FALSE")),
)  # fmt: skip


def schema_text(schema: Schema | None) -> str:
    """Return a schema as the oracle writes it."""
    if schema is None:
        return "null"
    text = schema.type.value + ("?" if schema.optional else "") + (f"/{schema.name}" if schema.name else "")
    if schema.parameters is not None:
        text += to_text(dict(schema.parameters))
    if schema.type is SchemaType.ARRAY:
        return f"{text}<{schema_text(schema.value)}>"
    if schema.type is SchemaType.MAP:
        return f"{text}<{schema_text(schema.key)},{schema_text(schema.value)}>"
    return text


def tagged(schema: Schema | None, value: ConnectValue) -> Any:
    """Return a value with the Java class of each of its parts, as the oracle does."""
    match value:
        case None | str() | bool():
            return value
        case list():
            return [tagged(schema and schema.value, item) for item in value]
        case dict():
            pairs = value.items()
            return {
                "entries": [
                    [tagged(schema and schema.key, k), tagged(schema and schema.value, v)] for k, v in pairs
                ]
            }
        case Decimal():
            text = f"{unscaled(value)}e{-scale_of(value)}"
        case date() | time() | FarDate() | FarTimestamp():
            return {"class": "java.util.Date", "text": str(date_millis(value))}
        case _:
            value = value if schema is None else narrowed(value, schema.type)
            text = to_text(value)
    return {"class": class_name(value), "text": text}


def by_number(node: Any) -> Any:
    """Name floats by their number: Java before 19 gives some one digit more than they need."""
    if isinstance(node, list):
        return [by_number(each) for each in node]
    if not isinstance(node, dict):
        return node
    of = {"java.lang.Float": float_text, "java.lang.Double": to_text}.get(node.get("class", ""))
    if of is not None:
        return {**node, "text": of(float(node["text"]))}
    return {key: by_number(each) for key, each in node.items()}


def ours(text: str) -> dict[str, Any]:
    found = parse_value(text)
    if found.schema is None and found.value is None:
        return {}
    return {
        "found": {"schema": schema_text(found.schema), "value": tagged(found.schema, found.value)},
        "text": value_to_text(found.schema, found.value),
        "toString": to_text_under(found.schema, found.value),
    }


def test_widths_of_mixed_numbers_in_headers_are_kafka_connects(oracle: Oracle) -> None:
    questions = [{"text": text} for text in gathered(MIXED, CASES)]
    java = [by_number(each.get("found")) for each in oracle.ask("parsed", questions)]
    assert not differing(questions, java, [ours(each["text"]).get("found") for each in questions])


def _loses_text(text: str, java: dict[str, Any]) -> bool:
    """Tell whether Kafka Connect reads "1,2" as 1 (KAFKA-20892), or loses a bracket after a blank."""
    if not java:
        return False
    kind = java["found"]["schema"].partition("/")[0].partition("{")[0]
    is_blank = kind == "string" and not java["found"]["value"].strip()
    return (kind in NUMBERS or is_blank) and any(each in text for each in ':,{}[]"')


def test_header_values_are_read_as_kafka_connect_reads_them(oracle: Oracle) -> None:
    questions = [{"text": text} for text in gathered(HEADERS, CASES)]
    answers = [ours(each["text"]) for each in questions]
    expected = []
    for question, java, answer in zip(questions, oracle.ask("parsed", questions), answers, strict=True):
        text = question["text"]
        as_it_is = {"found": {"schema": "string", "value": text}, "text": text, "toString": text}
        expected.append(as_it_is if answer == as_it_is and _loses_text(text, java) else java)
    assert not differing(questions, expected, answers)


def test_values_have_the_texts_they_have_in_kafka_connect(oracle: Oracle) -> None:
    values = gathered(WITHOUT_IDENTITIES, CASES)
    questions = [{"envelope": envelope(value).decode()} for value in values]
    answers: list[dict[str, Any]] = []
    for value in values:
        schema, mine = made(*value)
        answer: dict[str, Any] = {"toString": to_text_under(schema, mine)}
        try:
            answers.append({**answer, "text": value_to_text(schema, mine)})
        except DataError as error:
            answers.append({"error": error.message})
    assert not differing(questions, oracle.ask("texts", questions), answers)


DATE_CASES = 800
#: Around the change of the calendar, around the first year, of our days, and as far as 64 bits go.
MILLIS = st.one_of(
    st.integers(-12_300_000_000_000, -12_100_000_000_000),
    st.integers(-63_000_000_000_000, -61_000_000_000_000),
    st.integers(-2_000_000_000_000, 4_000_000_000_000),
    st.integers(-(2**63), 2**63 - 1),
)
#: Java's week years before Christ count both ways at once.
WEEK_YEARS = -62_135_769_600_000
LETTERS = st.tuples(st.sampled_from("GyMLwWDdFEuaHkKhmsSzZXY"), st.integers(1, 4)).map(
    lambda found: found[0] * found[1]
)
PATTERNS = st.lists(LETTERS | st.sampled_from(("-", " ", ":", "'at'", "''")), max_size=6).map("".join)
#: Patterns as people write them, to be read with. Two digits of a year mean others from year to year in Java.
READABLE = (
    "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "dd/MM/yyyy HH:mm", "EEE, d MMM yyyy", "yyyyMMddHHmmss",
    "MMMM d yyyy hh:mm a", "yyyy-DDD", "H:m:s", "yyyy-MM-dd HH:mm:ss Z", "yyyy-MM-dd G",
    "yyyy-MM-dd HH:mm z", "yyyy-MM-dd'T'HH:mmX", "yyyy-MM-dd HH:mmXX", "EEE MMM dd HH:mm:ss zzz yyyy",
    "MM/yyyy", "hh a", "G y D",
)  # fmt: skip
ZONES = (
    "PST", "pst", "EST", "EDT", "CET", "CEST", "PDT", "JST", "GMT", "UTC", "Z", "GMT+1:30", "GMT+1",
    "GMT-0800", "+0130", "-08:00", "+25", "+01", "gmt", "Pacific Standard Time", "Eastern Daylight Time",
    "Nowhere",
)  # fmt: skip


def _written(case: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"text": DatePattern(case["pattern"]).format(case["millis"])}
    except ConfigError as error:
        return {"error": error.message}


def test_points_in_time_of_any_year_are_written_as_java_writes_them(oracle: Oracle) -> None:
    cases = [
        {"pattern": pattern, "millis": millis}
        for pattern, millis in gathered(st.tuples(PATTERNS, MILLIS), DATE_CASES)
        if millis > WEEK_YEARS or "Y" not in pattern
    ]
    assert not differing(cases, oracle.ask("date", cases), [_written(case) for case in cases])


@st.composite
def _date_texts(draw: st.DrawFn) -> dict[str, Any]:
    pattern = draw(st.sampled_from(READABLE))
    text = DatePattern(pattern).format(draw(MILLIS))
    place = draw(st.integers(0, len(text)))
    change = draw(st.sampled_from(("none", "none", "cut", "replace", "insert")))
    if change == "cut":
        text = text[:place]
    elif change != "none":
        behind = text[place + (change == "replace") :]
        text = text[:place] + draw(st.sampled_from(tuple("0 9-:.aZ"))) + behind
    return {"pattern": pattern, "text": text}


def _read(oracle: Oracle, cases: list[dict[str, Any]]) -> str:
    java = [answer.get("millis") for answer in oracle.ask("date", cases)]
    return differing(cases, java, [DatePattern(case["pattern"]).parse(case["text"]) for case in cases])


def test_points_in_time_of_any_year_are_read_as_java_reads_them(oracle: Oracle) -> None:
    assert not _read(oracle, gathered(_date_texts(), DATE_CASES))


def test_zone_names_and_offsets_are_read_as_java_reads_them(oracle: Oracle) -> None:
    cases = [
        {"pattern": f"yyyy-MM-dd HH:mm {letters}", "text": f"{day} 10:11 {zone}{behind}"}
        for letters in ("z", "zzzz", "Z", "X", "XX", "XXX")
        for day in ("2024-01-15", "2024-07-15")
        for zone in ZONES
        for behind in ("", "x", " 1")
    ]
    assert not _read(oracle, cases)


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
