"""Values as text and back, as Kafka Connect 4.3.1 was recorded, and as another version of their schema."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest
from copycat_connect.data import (
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaAndValue,
    SchemaBuilder,
    SchemaProjectionError,
    SchemaType,
    Struct,
    project,
)
from copycat_connect.data.java import to_text
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32, narrowed
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.values.date_pattern import DatePattern
from copycat_connect.values.parsing import parse_value
from copycat_connect.values.text import value_to_text
from hypothesis import given
from hypothesis import strategies as st

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "recorded" / "values.jsonl").read_text("utf-8").split("\n")
    if line
]


def described(schema: Schema | None) -> str:
    """Return a schema as the recording names it, e.g. `ARRAY<INT32/Date>`."""
    if schema is None:
        return "null"
    text = str(schema.type)
    if schema.name is not None:
        text += "/" + schema.name.rpartition(".")[2]
        text += "" if schema.parameters is None else to_text(dict(schema.parameters))
    if text == "ARRAY":
        text += f"<{described(schema.value)}>"
    return f"{text}<{described(schema.key)},{described(schema.value)}>" if text == "MAP" else text


@pytest.mark.parametrize(("text", "schema", "printed"), RECORDED)
def test_what_kafka_connect_was_recorded_to_guess(text: str, schema: str | None, printed: str | None) -> None:
    found = parse_value(text)
    if schema is None:
        assert found == SchemaAndValue(None, None)
    else:
        assert (described(found.schema), value_to_text(found.schema, found.value)) == (schema, printed)


@pytest.mark.parametrize("text", ["12:34", "1,2", "12:34:56.78Z"])
def test_a_number_with_something_after_it_stays_text(text: str) -> None:
    assert parse_value(text) == SchemaAndValue(STRING_SCHEMA, text)


def test_a_number_too_long_to_write_out_is_not_written_out() -> None:
    assert parse_value("407127e212797209").value == Decimal("407127e212797209")


@pytest.mark.parametrize(
    ("text", "schema", "widths"),
    [
        # Java's rule: all elements take the widest type, and float wins over long.
        ("[1,300,70000]", "ARRAY<INT32>", "[1, 300, 70000]"),
        ("[1,2.5]", "ARRAY<FLOAT32>", "[1.0, 2.5]"),
        ("[1,1e300]", "ARRAY<FLOAT64>", "[1.0, 1.0E300]"),
        # Without a common schema each keeps its own.
        ("[1,300,true]", "ARRAY<null>", "[Int8 1, Int16 300, true]"),
        ('[1.5,70000,"x"]', "ARRAY<null>", "[Float32 1.5, Int32 70000, x]"),
        ("[1,[300,true]]", "ARRAY<null>", "[Int8 1, [Int16 300, true]]"),
        ("[true,[300]]", "ARRAY<null>", "[true, [Int16 300]]"),
        ('{1:300,"x":70000}', "MAP<null,null>", "{Int8 1=Int16 300, x=Int32 70000}"),
        ('{"a":300,"b":true}', "MAP<STRING,null>", "{a=Int16 300, b=true}"),
        ("{1:true,300:1}", "MAP<INT16,null>", "{1=true, 300=Int8 1}"),
        # The schema of lists is the last one's, whatever the others hold.
        ("[[300],[1]]", "ARRAY<ARRAY<INT8>>", "[[Int16 300], [1]]"),
        ("[[2.5],[1]]", "ARRAY<ARRAY<INT8>>", "[[Float32 2.5], [1]]"),
    ],
)
def test_mixed_numbers_in_lists_and_maps_keep_their_widths(text: str, schema: str, widths: str) -> None:
    found = parse_value(text)
    assert (described(found.schema), with_classes(found.value)) == (schema, widths)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("{0:0.0,6.7e-54:1}", 1),
        # Kafka Connect keeps the last item of each key as written, then the last of those that fall together.
        ("{0:1,6.7e-54:2,0:3}", 2),
        ("{6.7e-54:2,0:3,6.7e-54:4}", 3),
    ],
)
def test_keys_of_a_map_that_fall_together_keep_the_item_kafka_connect_keeps(text: str, item: int) -> None:
    assert parse_value(text).value == {0.0: item}


def with_classes(value: ConnectValue) -> str:
    """Return a value as text in which narrow numbers name their class."""
    match value:
        case list():
            return "[" + ", ".join(map(with_classes, value)) + "]"
        case dict():
            pairs = (f"{with_classes(key)}={with_classes(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case Int8() | Int16() | Int32() | Float32():
            return f"{type(value).__name__} {value}"
        case _:
            return to_text(value)


@pytest.mark.parametrize("text", ["[10:11:12.123Z,2.5]", "[2024-02-29,70000000000,1.5]"])
def test_points_in_time_among_numbers_stay_text(text: str) -> None:
    assert parse_value(text) == SchemaAndValue(STRING_SCHEMA, text)


def test_a_float_is_not_cut_to_an_integer_by_its_schema() -> None:
    assert narrowed(2.5, SchemaType.INT16) == 2.5
    assert type(narrowed(2, SchemaType.FLOAT32)) is int


@given(st.text())
def test_any_text_means_something(text: str) -> None:
    parse_value(text)


@given(st.integers(-128, 127))
def test_a_small_number_survives(number: int) -> None:
    assert parse_value(value_to_text(INT8_SCHEMA, number)) == SchemaAndValue(INT8_SCHEMA, number)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (None, None, None),
        (FLOAT32_SCHEMA, 0.1, "0.1"),
        (None, 1e10, "1.0E10"),
        (None, b"\xff", "/w=="),
        (None, ['a"b', b"\xff", None, True], '["a\\"b","/w==",null,true]'),
        (None, {"a": 1}, '{"a":1}'),
        (None, date(2024, 1, 1), "2024-01-01"),
        (None, date(1969, 1, 1), "00:00:00.000Z"),
        (None, time(1, 2, 3, 4000), "01:02:03.004Z"),
        (None, datetime(2024, 1, 1, 1, tzinfo=UTC), "2024-01-01T01:00:00.000Z"),
        (
            None,
            Struct(
                SchemaBuilder.struct().field("a", INT32_SCHEMA).field("b", STRING_SCHEMA).build(),
                {"a": 1, "b": "x"},
            ),
            '{"a":1,"b":"x"}',
        ),
    ],
)
def test_values_have_texts(schema: Schema | None, value: ConnectValue, text: str | None) -> None:
    assert value_to_text(schema, value) == text


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="Failed to serialize unexpected value type"):
        value_to_text(None, object())


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2023-11-14T22:13:20.123Z"),
        ("EEE, d MMM yy", "Tue, 14 Nov 23"),
        ("EEEE MMMM hh a K k", "Tuesday November 10 PM 10 22"),
        ("'o''clock' HH z Z", "o'clock 22 UTC +0000"),
        ("G YYYY-'W'ww-u DDD W F LL", "AD 2023-W46-2 318 3 2 11"),
    ],
)
def test_points_in_time_are_written_by_java_s_letters(pattern: str, text: str) -> None:
    assert DatePattern(pattern).format(1_700_000_000_123) == text


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_whole_pattern_reads_what_it_wrote(millis: int) -> None:
    pattern = DatePattern("yyyy-MM-dd G HH:mm:ss.SSS")
    assert pattern.parse(pattern.format(millis)) == millis


@pytest.mark.parametrize("pattern", ["bogus", "'open", "e"])
def test_a_pattern_of_unknown_letters_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError):
        DatePattern(pattern)


@pytest.mark.timeout(60)
def test_a_text_of_a_megabyte_that_is_nearly_a_number_is_read_at_once() -> None:
    text = "1" * 1_000_000 + "x"
    assert parse_value(text).value == text


OLD = (
    SchemaBuilder.struct()
    .name("Order")
    .version(1)
    .field("id", INT32_SCHEMA)
    .field("gone", STRING_SCHEMA)
    .build()
)
STATE = SchemaBuilder(STRING_SCHEMA.type).default_value("new").build()
NEW = (
    SchemaBuilder.struct()
    .name("Order")
    .version(2)
    .field("id", INT64_SCHEMA)
    .field("state", STATE)
    .field("note", OPTIONAL_STRING_SCHEMA)
    .build()
)


def test_a_struct_of_an_older_schema_gets_the_newer_ones_fields() -> None:
    projected = project(OLD, Struct(OLD, {"id": 7, "gone": "x"}), NEW)
    assert projected == Struct(NEW, {"id": 7, "state": "new"})


def test_a_required_field_without_default_that_is_missing_is_named() -> None:
    with pytest.raises(SchemaProjectionError) as refused:
        project(NEW, Struct(NEW, {"id": 7}), OLD)
    assert refused.value.message == "Error projecting id"
    assert str(refused.value.__cause__) == "Schema type mismatch. source type: INT64 and target type: INT32"
    with pytest.raises(
        SchemaProjectionError,
        match=r"^Required field `z` is missing from source schema: Schema\{Order:STRUCT\}$",
    ):
        project(
            OLD,
            Struct(OLD, {"id": 7, "gone": "x"}),
            SchemaBuilder.struct().name("Order").field("z", INT8_SCHEMA).build(),
        )


def test_null_becomes_the_default_where_the_target_requires_a_value() -> None:
    assert project(OPTIONAL_STRING_SCHEMA, None, STATE) == "new"
    with pytest.raises(SchemaProjectionError, match="Writer schema is optional, however, target schema"):
        project(OPTIONAL_INT32_SCHEMA, 5, INT32_SCHEMA)


def test_a_long_becomes_the_nearest_float_in_one_rounding() -> None:
    # By way of a double it would be rounded twice, to 2**60.
    assert project(INT64_SCHEMA, 2**60 + 2**36 + 1, FLOAT32_SCHEMA) == 2.0**60 + 2.0**37
    assert project(INT64_SCHEMA, -(2**60) - 2**36 - 1, FLOAT32_SCHEMA) == -(2.0**60) - 2.0**37


def test_values_of_logical_types_and_schemas_of_other_names_stay_apart() -> None:
    assert project(DATE_SCHEMA, date(2026, 1, 2), DATE_SCHEMA) == date(2026, 1, 2)
    with pytest.raises(
        SchemaProjectionError, match=r"source name: org\.apache\.\S+Date and target name: null$"
    ):
        project(DATE_SCHEMA, date(2026, 1, 2), INT32_SCHEMA)


@pytest.mark.parametrize(
    "schema",
    [OLD, SchemaBuilder.array(INT8_SCHEMA).build(), SchemaBuilder.map(INT8_SCHEMA, INT8_SCHEMA).build()],
)
def test_a_value_that_is_not_of_the_source_schema_is_refused(schema: Schema) -> None:
    with pytest.raises(DataError, match=r"^class java\.lang\.String cannot be cast to class "):
        project(schema, "text", schema)
