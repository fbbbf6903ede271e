"""Java's texts of Python values, and dates by Java's calendar; recorded from Java where not obvious."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from copycat_connect.data import (
    DATE_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    FarDate,
    FarTimestamp,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
    logical,
    validate_value,
)
from copycat_connect.data.java import class_text, decode_utf8, double_text, float_text, to_text
from copycat_connect.data.java_calendar import FIRST_GREGORIAN_DAY, calendar_day, day_number
from copycat_connect.plugin import PluginKind, load_plugins
from copycat_connect.values.date_pattern import DatePattern
from copycat_connect.values.parsing import parse_value
from copycat_connect.values.text import value_to_text
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.5, "1.234567895E8"),
        (1e23, "1.0E23"),
        (5e-324, "4.9E-324"),
        (2.2250738585072014e-308, "2.2250738585072014E-308"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_doubles_are_printed_as_java_prints_them(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (16777216.0, "1.6777216E7"), (3.4028234663852886e38, "3.4028235E38"), (1e-44, "9.8E-45")],
)
def test_floats_are_printed_in_the_shortest_form_of_32_bits(value: float, text: str) -> None:
    assert float_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_double_reads_back_as_itself(value: float) -> None:
    assert float(double_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (5, "5"),
        ("x", "x"),
        ({"a": 1, "b": [None, 2.5]}, "{a=1, b=[null, 2.5]}"),
        (Decimal("1E+3"), "1E+3"),
        (datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), "Tue Jan 02 03:04:05 UTC 2024"),
    ],
)
def test_values_are_printed_as_java_prints_them(value: object, text: str) -> None:
    assert to_text(value) == text


def test_a_struct_prints_only_the_fields_that_are_set() -> None:
    schema = SchemaBuilder.struct().field("a", INT32_SCHEMA).field("b", OPTIONAL_STRING_SCHEMA).build()
    assert to_text(Struct(schema, {"a": 1})) == "Struct{a=1}"
    assert to_text(Struct(schema, {"a": 1, "b": "x"})) == "Struct{a=1,b=x}"


def test_python_classes_have_java_names() -> None:
    assert class_text(1) == "class java.lang.Long"
    assert class_text(b"") == "class [B"
    assert class_text(None) == "null"


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (b"\xc3\xa9", "é"),
        (b"a\xffb", "a�b"),
        (b"\xed\xa0\x80", "�"),
        (b"\xed\xa0x", "�x"),
        (b"\xe2\x82", "�"),
        (b"\xe0\x80\x80", "���"),
        (b"\xf0\x9f\x98\x80", "😀"),
    ],
)
def test_malformed_utf8_is_replaced_as_java_replaces_it(encoded: bytes, text: str) -> None:
    assert decode_utf8(encoded) == text


PLUGINS = load_plugins()
DAY = 86_400_000
CUTOVER = FIRST_GREGORIAN_DAY * DAY


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (CUTOVER, "1582-10-15 AD 278 40 1 1 5 1582"),
        (CUTOVER - DAY, "1582-10-04 AD 277 40 1 1 4 1582"),
        (CUTOVER + 16 * DAY, "1582-10-31 AD 294 43 4 3 7 1582"),
        (CUTOVER - 300 * DAY, "1581-12-09 AD 343 49 2 2 6 1581"),
        (-62_135_769_600_000, "0001-01-01 AD 1 1 1 1 6 1"),
        (-62_136_028_800_000, "0001-12-29 BC 364 1 5 5 3 1"),
        (317_273_587_200_000, "12024-01-01 AD 1 1 1 1 1 12024"),
        (2**63 - 1, "292278994-08-17 AD 229 34 4 3 7 292278994"),
    ],
)
def test_dates_before_1582_are_julian_and_any_year_is_written(millis: int, text: str) -> None:
    assert DatePattern("yyyy-MM-dd G D w W F u Y").format(millis) == text


@pytest.mark.parametrize(
    ("pattern", "text", "millis"),
    [
        ("yyyy-MM-dd", "1582-10-04", CUTOVER - DAY),
        ("yyyy-MM-dd", "1582-10-10", CUTOVER + 5 * DAY),  # a day left out counts on
        ("yyyy-DDD", "1582-280", CUTOVER + 2 * DAY),
        ("yyyy-MM-dd", "1580-51-04", -12_174_710_400_000),
        ("yyyy-MM-dd", "0000-01-01", -62_167_392_000_000),
        ("yyyy-MM-dd", "-0005-01-01", -62_325_158_400_000),
        ("yyyy-MM-dd G", "0005-01-01 BC", -62_293_622_400_000),
        ("yyyyy-MM-dd", "12024-01-01", 317_273_587_200_000),
        ("yyyy-MM-dd", "292278994-08-17", 9_223_372_036_828_800_000),
        ("hh a", "96 PM", 388_800_000),
        ("yyyyMMddHHmmss", "0021113012 144", -61_475_803_096_000),
    ],
)
def test_dates_of_any_year_are_read_by_java_s_calendar(pattern: str, text: str, millis: int) -> None:
    assert DatePattern(pattern).parse(text) == millis


@pytest.mark.parametrize(
    ("letter", "zone", "minutes"),
    [
        ("z", "PST", -480),
        ("z", "pdt", -420),
        ("z", "EST", -300),
        ("z", "CEST", 120),
        ("z", "UTC", 0),
        ("z", "GMT", 0),
        ("z", "GMT+1:30", 90),
        ("z", "GMT-08:00", -480),
        ("Z", "-0800", -480),
        ("Z", "Pacific Standard Time", -480),
        ("z", "Central European Summer Time", 120),
        ("XXX", "+05:30", 330),
        ("XX", "+0530", 330),
        ("X", "+05", 300),
        ("X", "Z", 0),
        ("X", "PST", None),
        ("z", "Z", None),
        ("z", "Nowhere", None),
        ("XXX", "+0530", None),
        ("Z", "+2500", None),
    ],
)
def test_zone_names_and_offsets_are_read(letter: str, zone: str, minutes: int | None) -> None:
    found = DatePattern(f"yyyy-MM-dd HH:mm {letter}").parse(f"2024-01-15 00:00 {zone}")
    assert found == (None if minutes is None else 1_705_276_800_000 - minutes * 60_000)


@given(st.integers(-110_000_000_000, 110_000_000_000))
def test_every_day_is_found_again_by_its_date(days: int) -> None:
    found = calendar_day(days)
    assert 1 <= found.month <= 12
    assert 1 <= found.day <= 31
    assert day_number(*found) == days


FAR = (
    (DATE_SCHEMA, FarDate(3_000_000), 3_000_000),
    (DATE_SCHEMA, FarDate(-800_000), -800_000),
    (TIMESTAMP_SCHEMA, FarTimestamp(2**62), 2**62),
    (TIMESTAMP_SCHEMA, FarTimestamp(-(2**63)), -(2**63)),
)


@pytest.mark.parametrize(("schema", "value", "number"), FAR)
def test_instants_outside_the_years_1_to_9999_are_carried(
    schema: Schema, value: ConnectValue, number: int
) -> None:
    validate_value(schema, value)
    converter = PLUGINS.find("org.apache.kafka.connect.json.JsonConverter", (PluginKind.CONVERTER,)).make()
    converter.configure({})
    data = converter.from_connect("t", None, schema, value)

    assert json.loads(data)["payload"] == number
    assert converter.to_connect("t", None, data).value == value
    assert class_text(value) == "class java.util.Date"


def test_instants_outside_the_years_1_to_9999_have_texts() -> None:
    far = logical.timestamp_from_millis(317_273_587_200_000)
    assert to_text(far) == "Mon Jan 01 00:00:00 UTC 12024"
    assert to_text([logical.date_from_days(-719_900)]) == "[Fri Dec 27 00:00:00 UTC 3]"
    assert value_to_text(TIMESTAMP_SCHEMA, far) == "12024-01-01"
    assert to_text(datetime(1500, 3, 1, tzinfo=UTC)) == "Thu Feb 20 00:00:00 UTC 1500"


def test_a_date_before_1582_in_a_header_is_julian() -> None:
    assert logical.date_to_days(parse_value("1582-10-04").value) == FIRST_GREGORIAN_DAY - 1


def test_the_timestamp_converter_carries_instants_of_any_year() -> None:
    name = "org.apache.kafka.connect.transforms.TimestampConverter$Value"
    convert = PLUGINS.find(name, (PluginKind.TRANSFORMATION,)).make()
    convert.configure({"target.type": "string", "format": "yyyy-MM-dd G"})
    assert convert.apply(SinkRecord("t", 0, 0, None, -(2**62))).value == "146133543-06-11 BC"
    convert.configure({"target.type": "Timestamp"})
    assert convert.apply(SinkRecord("t", 0, 0, None, 2**62)).value == FarTimestamp(2**62)
    convert.configure({"target.type": "Date"})
    assert convert.apply(SinkRecord("t", 0, 0, None, 317_273_587_200_001)).value == FarDate(3_672_148)
