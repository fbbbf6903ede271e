"""Java's texts of Python values; recorded from Java where they are not obvious."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from copycat_connect.data import INT32_SCHEMA, OPTIONAL_STRING_SCHEMA, SchemaBuilder, Struct
from copycat_connect.data.java import class_text, decode_utf8, double_text, float_text, to_text
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
