"""Schemas, structs and their validation."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaBuilderError,
    SchemaType,
    Struct,
    decimal_schema,
    logical,
    validate_value,
)
from copycat_connect.errors import DataError
from hypothesis import given
from hypothesis import strategies as st

ORDER = (
    SchemaBuilder.struct()
    .name("Order")
    .field("id", INT32_SCHEMA)
    .field("note", OPTIONAL_STRING_SCHEMA)
    .field("count", SchemaBuilder(SchemaType.INT32).default_value(7).build())
    .build()
)


def test_schemas_that_differ_only_in_doc_differ() -> None:
    assert (
        SchemaBuilder(SchemaType.INT32).doc("a").build() != SchemaBuilder(SchemaType.INT32).doc("b").build()
    )
    assert (
        SchemaBuilder(SchemaType.INT32).doc("a").build() == SchemaBuilder(SchemaType.INT32).doc("a").build()
    )


def test_a_schema_prints_its_name_and_type() -> None:
    assert str(ORDER) == "Schema{Order:STRUCT}"
    assert str(INT32_SCHEMA) == "Schema{INT32}"


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda schema: schema.fields, "Cannot list fields on non-struct type"),
        (lambda schema: schema.field("a"), "Cannot look up fields on non-struct type"),
        (lambda schema: schema.key_schema, "Cannot look up key schema on non-map type"),
        (lambda schema: schema.value_schema, "Cannot look up value schema on non-array and non-map type"),
    ],
)
def test_asking_a_primitive_for_its_parts_is_refused(ask: object, text: str) -> None:
    with pytest.raises(DataError, match=text):
        ask(INT32_SCHEMA)  # type: ignore[operator]  # parametrized


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: SchemaBuilder.struct().field("a", INT32_SCHEMA).field("a", INT32_SCHEMA), "duplication a"),
        (
            lambda: SchemaBuilder(SchemaType.INT32).field("a", INT32_SCHEMA),
            "Cannot create fields on type INT32",
        ),
        (lambda: SchemaBuilder.struct().field("", INT32_SCHEMA), "fieldName cannot be null."),
        (lambda: SchemaBuilder.struct().field("a", None), "fieldSchema for field a cannot be null."),
        (lambda: SchemaBuilder.array(None), "valueSchema cannot be null."),
        (lambda: SchemaBuilder.map(None, INT32_SCHEMA), "keySchema cannot be null."),
        (lambda: SchemaBuilder(SchemaType.INT32).default_value("x"), "Invalid default value"),
        (lambda: SchemaBuilder(SchemaType.INT32).name("a").name("b"), "name has already been set."),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused(build: object, text: str) -> None:
    with pytest.raises(SchemaBuilderError, match=text):
        build()  # type: ignore[operator]  # parametrized


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INT8_SCHEMA, 127),
        (INT64_SCHEMA, -(2**63)),
        (FLOAT32_SCHEMA, 1.5),
        (BOOLEAN_SCHEMA, True),
        (STRING_SCHEMA, ""),
        (BYTES_SCHEMA, b"x"),
        (decimal_schema(2), Decimal("1.50")),
        (DATE_SCHEMA, date(2024, 1, 1)),
        (TIME_SCHEMA, time(1, 2)),
        (TIMESTAMP_SCHEMA, datetime.now(UTC)),
        (SchemaBuilder.array(INT32_SCHEMA).build(), [1, 2]),
        (SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(), {"a": 1}),
        (OPTIONAL_STRING_SCHEMA, None),
    ],
)
def test_a_value_of_its_schema_is_valid(schema: Schema, value: object) -> None:
    validate_value(schema, value)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (INT32_SCHEMA, None, "Invalid value: null used for required value, schema type: INT32"),
        (
            INT32_SCHEMA,
            "x",
            "Invalid Java object for schema with type INT32: class java.lang.String for value",
        ),
        (
            TIMESTAMP_SCHEMA,
            5,
            'Invalid Java object for schema "org.apache.kafka.connect.data.Timestamp" with type INT64: '
            "class java.lang.Long for value",
        ),
        (
            SchemaBuilder.array(INT32_SCHEMA).build(),
            [None],
            "Invalid value: null used for required element of array value, schema type: INT32",
        ),
        (
            SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(),
            {"a": "b"},
            "Invalid Java object for schema with type INT32: class java.lang.String for value of map value",
        ),
    ],
)
def test_a_value_of_another_schema_is_refused(schema: Schema, value: object, text: str) -> None:
    with pytest.raises(DataError) as refused:
        validate_value(schema, value)
    assert refused.value.message == text


def test_an_integer_does_not_fit_a_narrower_type_or_a_boolean() -> None:
    with pytest.raises(DataError):
        validate_value(INT8_SCHEMA, 128)
    with pytest.raises(DataError):
        validate_value(INT32_SCHEMA, True)


def test_a_struct_gives_the_default_for_a_field_that_is_not_set() -> None:
    order = Struct(ORDER, {"id": 1})
    assert order["count"] == 7
    assert order.get_without_default("count") is None
    order.validate()


def test_null_cannot_be_put_into_a_required_field_even_with_a_default() -> None:
    with pytest.raises(DataError, match='null used for required field: "count", schema type: INT32'):
        Struct(ORDER).put("count", None)


def test_a_struct_refuses_unknown_fields_and_other_structs() -> None:
    with pytest.raises(DataError, match="x is not a valid field name"):
        Struct(ORDER).put("x", 1)
    other = Struct(SchemaBuilder.struct().build())
    with pytest.raises(DataError, match="Struct schemas do not match"):
        validate_value(ORDER, other)


def test_structs_are_equal_by_schema_and_values() -> None:
    assert Struct(ORDER, {"id": 1}) == Struct(ORDER, {"id": 1})
    assert Struct(ORDER, {"id": 1}) != Struct(ORDER, {"id": 1, "count": 7})


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_a_decimal_survives_its_bytes(value: Decimal) -> None:
    schema = decimal_schema(3)
    assert logical.decimal_from_bytes(schema, logical.decimal_to_bytes(schema, value)) == value


@pytest.mark.parametrize(
    ("number", "encoded"), [(0, "00"), (127, "7f"), (128, "0080"), (-128, "80"), (-129, "ff7f")]
)
def test_unscaled_integers_are_written_as_short_as_java_writes_them(number: int, encoded: str) -> None:
    assert logical.integer_to_bytes(number).hex() == encoded


def test_a_decimal_of_another_scale_is_refused() -> None:
    with pytest.raises(DataError, match="Schema has scale 2, value has scale 1"):
        logical.decimal_to_bytes(decimal_schema(2), Decimal("1.5"))


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_timestamp_survives_to_the_millisecond(moment: datetime) -> None:
    millis = logical.timestamp_to_millis(moment)
    assert logical.timestamp_from_millis(millis) == moment.replace(
        microsecond=moment.microsecond // 1000 * 1000
    )


def test_the_default_of_a_struct_is_a_value_of_its_schema() -> None:
    bare = SchemaBuilder.struct().name("Point").field("x", INT32_SCHEMA)
    default = Struct(bare.build(), {"x": 1})
    whole = SchemaBuilder.struct().field("at", bare.default_value(default).build()).build()

    unset = Struct(whole)
    assert unset.get("at") is default
    assert Struct(whole).put("at", unset.get("at")).get("at") is default
    other = SchemaBuilder.struct().name("Point").field("y", INT32_SCHEMA).build()
    with pytest.raises(DataError, match="do not match"):
        Struct(whole).put("at", Struct(other))
