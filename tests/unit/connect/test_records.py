"""Schemas, structs and their validation; records, headers and batches."""

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
    Header,
    Headers,
    Schema,
    SchemaBuilder,
    SchemaBuilderError,
    SchemaType,
    SinkBatch,
    SinkRecord,
    SourceBatch,
    SourceRecord,
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


def test_replacing_a_topic_leaves_the_rest_and_the_original() -> None:
    record = SinkRecord("t", 1, 5, "k", "v", headers=[Header("h", 1)])
    moved = record.replace(topic="u")
    assert (moved.topic, moved.offset, moved.key, moved.value) == ("u", 5, "k", "v")
    assert (moved.original_topic, record.topic) == ("t", "t")


def test_a_copy_has_headers_of_its_own() -> None:
    record = SourceRecord({}, {}, "t", "v", headers=[Header("h", 1)])
    record.replace(topic="u").headers.add("x", 2)
    assert len(record.headers) == 1


def test_a_record_without_headers_says_so_without_making_any() -> None:
    record = SourceRecord({}, {}, "t", "v")
    assert not record.has_headers
    record.headers.add("a", 1)
    assert record.has_headers


def test_an_attribute_that_records_do_not_have_cannot_be_replaced() -> None:
    with pytest.raises(AttributeError):
        SourceRecord({}, {}, "t", "v").replace(offset=1)


def test_headers_keep_their_order_and_names_may_repeat() -> None:
    headers = Headers().add("a", 1).add("b", 2).add("a", 3)
    assert [header.value for header in headers.all_with_name("a")] == [1, 3]
    last = headers.last_with_name("a")
    assert last is not None
    assert last.value == 3
    assert [header.key for header in headers.remove("a")] == ["b"]


def test_a_header_must_fit_its_schema() -> None:
    with pytest.raises(DataError, match="A null value requires an optional schema but was"):
        Headers().add("a", None, STRING_SCHEMA)
    with pytest.raises(DataError, match="The value x is not compatible with the schema"):
        Headers().add("a", "x", INT32_SCHEMA)


def test_a_source_batch_yields_records_with_text_and_their_own_offsets() -> None:
    batch = SourceBatch(
        "t",
        [b"a", b"\xc3\xa9"],
        value_schema=STRING_SCHEMA,
        source_partition={"f": "x"},
        source_offset={"p": 5},
        utf8=True,
        offsets=lambda: [{"p": 2}, {"p": 5}],
    )
    assert [(record.value, record.source_offset) for record in batch] == [("a", {"p": 2}), ("é", {"p": 5})]


def test_a_source_batch_without_single_offsets_gives_its_own_to_each_record() -> None:
    batch = SourceBatch("t", ["a", "b"], keys=["k", "l"], source_offset={"p": 2})
    assert [(record.key, record.source_offset) for record in batch] == [("k", {"p": 2}), ("l", {"p": 2})]


def test_the_records_of_a_batch_carry_its_timestamp() -> None:
    assert [record.timestamp for record in SourceBatch("t", ["a", "b"], timestamp=7)] == [7, 7]
    assert [record.timestamp for record in SourceBatch("t", ["a"])] == [None]


def test_a_sink_batch_makes_each_record_once_and_only_when_asked() -> None:
    made: list[int] = []

    def make(place: int) -> SinkRecord:
        made.append(place)
        return SinkRecord("t", 0, place, None, f"v{place}")

    batch = SinkBatch(["v0", "v1", "v2"], make)
    assert (len(batch), batch.values, made) == (3, ["v0", "v1", "v2"], [])
    assert batch[-1].offset == 2
    assert batch[2] is batch[2]
    assert [record.value for record in batch[:2]] == ["v0", "v1"]
    assert batch.topics == ["t", "t", "t"]
    assert batch.key_schemas == [None, None, None]
    assert sorted(made) == [0, 1, 2]


def test_columns_that_are_at_hand_need_no_record() -> None:
    def refuse(place: int) -> SinkRecord:
        raise AssertionError(place)

    schemas = [STRING_SCHEMA]
    batch = SinkBatch(["v"], refuse, keys=["k"], topics=["t"], value_schemas=schemas, key_schemas=schemas)
    assert (batch.keys, batch.topics, batch.value_schemas, batch.key_schemas) == (
        ["k"],
        ["t"],
        schemas,
        schemas,
    )


def test_where_records_were_read_is_known_whatever_became_of_them() -> None:
    record = SinkRecord("t", 1, 5, None, "v", timestamp=7)
    found = SinkBatch.of([record.replace(topic="u", kafka_partition=9, timestamp=8)]).positions
    assert (found.topics, found.partitions, found.offsets, found.timestamps) == (["t"], [1], [5], [8])


def test_a_sink_batch_ends_where_its_values_end() -> None:
    with pytest.raises(IndexError):
        SinkBatch.of([])[0]
