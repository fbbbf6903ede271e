"""Date patterns beside Java's SimpleDateFormat: thousands of points in time of any year, written and read."""

from __future__ import annotations

from typing import Any

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.values.date_pattern import DatePattern
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.oracle import Oracle, differing

pytestmark = pytest.mark.long

CASES = 800
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
        for pattern, millis in gathered(st.tuples(PATTERNS, MILLIS), CASES)
        if millis > WEEK_YEARS or "Y" not in pattern
    ]
    assert not differing(cases, oracle.ask("date", cases), [_written(case) for case in cases])


@st.composite
def _texts(draw: st.DrawFn) -> dict[str, Any]:
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
    assert not _read(oracle, gathered(_texts(), CASES))


def test_zone_names_and_offsets_are_read_as_java_reads_them(oracle: Oracle) -> None:
    cases = [
        {"pattern": f"yyyy-MM-dd HH:mm {letters}", "text": f"{day} 10:11 {zone}{behind}"}
        for letters in ("z", "zzzz", "Z", "X", "XX", "XXX")
        for day in ("2024-01-15", "2024-07-15")
        for zone in ZONES
        for behind in ("", "x", " 1")
    ]
    assert not _read(oracle, cases)
