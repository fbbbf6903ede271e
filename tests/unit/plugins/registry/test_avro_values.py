"""Values of every Connect schema survive Avro, and their bytes are those everybody writes."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from copycat_avro.options import AvroOptions
from copycat_connect.data import (
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_registry.avro.converter import AvroFormat
from hypothesis import given

from tests.unit.plugins.registry.connect_data import EXAMPLES, Sample, options, samples


def there_and_back(
    schema: Schema | None, value: ConnectValue, **values: Any
) -> tuple[Schema | None, ConnectValue]:
    avro = AvroFormat(options(AvroOptions, **values))
    text = avro.describe(schema).text
    read_schema, decode = avro.decoder(text, None, None)
    return read_schema, decode(avro.encoder(schema, None)(value))


@pytest.mark.parametrize(("schema", "value"), EXAMPLES, ids=str)
def test_a_value_of_each_type_comes_back_with_its_schema(schema: Schema, value: ConnectValue) -> None:
    assert there_and_back(schema, value) == (schema, value)


@pytest.mark.parametrize("schema", [FLOAT32_SCHEMA, FLOAT64_SCHEMA], ids=str)
def test_infinity_comes_back(schema: Schema) -> None:
    assert there_and_back(schema, -math.inf) == (schema, -math.inf)


@pytest.mark.row("K26-14")
@given(samples())
def test_whatever_a_schema_can_say_comes_back(sample: Sample) -> None:
    assert there_and_back(*sample) == sample


def test_the_bytes_of_a_record_are_avros() -> None:
    schema = (
        SchemaBuilder.struct()
        .name("shop.Order")
        .field("id", INT64_SCHEMA)
        .field("note", OPTIONAL_STRING_SCHEMA)
        .field("price", decimal_schema(2))
        .field("at", TIMESTAMP_SCHEMA)
        .build()
    )  # fmt: skip
    order = Struct(schema, {
        "id": 1, "note": "hi", "price": Decimal("1.25"), "at": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    })  # fmt: skip
    written = AvroFormat(AvroOptions.parse({})).encoder(schema, None)(order)
    assert written == bytes.fromhex("0202046869027dd00f")


@pytest.mark.parametrize("value", [None, True, 5, 1.5, "text", ["a", 1, None], {"a": {"b": [1]}}, {1: "x"}])
def test_values_without_a_schema_come_back_without_one(value: ConnectValue) -> None:
    inside = [value]
    assert there_and_back(None, inside) == (None, inside)


def test_a_value_without_schema_of_a_class_java_cannot_tell_is_refused_with_a_way_out() -> None:
    with pytest.raises(
        DataError, match=r"Unknown Java type .*java.math.BigDecimal.*Give the records a schema"
    ):
        there_and_back(None, Decimal(1))


def test_an_unset_field_is_written_as_its_default_unless_that_is_ignored() -> None:
    text = SchemaBuilder(SchemaType.STRING).optional().default_value("none").build()
    schema = SchemaBuilder.struct().name("S").field("a", text).build()
    empty = Struct(schema)
    assert there_and_back(schema, empty)[1].get_without_default("a") == "none"
    assert there_and_back(schema, empty, ignore_default=True)[1].get_without_default("a") is None


def test_a_union_comes_back_as_the_struct_with_one_field_set() -> None:
    record = SchemaBuilder.struct().name("u.R").optional().field("x", INT64_SCHEMA).build()
    schema = (
        SchemaBuilder.struct()
        .name("io.confluent.connect.avro.Union")
        .optional()
        .field("int", Schema(SchemaType.INT32, optional=True))
        .field("string", OPTIONAL_STRING_SCHEMA)
        .field("R", record)
        .build()
    )
    for name, value in (("int", 5), ("string", "five"), ("R", Struct(record, {"x": 5}))):
        assert there_and_back(schema, Struct(schema, {name: value})) == (
            schema,
            Struct(schema, {name: value}),
        )


def test_an_enum_stays_an_enum_where_that_is_wanted() -> None:
    mark = "io.confluent.connect.avro.Enum"
    parameters = {mark: "e.Suit", f"{mark}.HEARTS": "HEARTS", f"{mark}.SPADES": "SPADES"}
    schema = replace(STRING_SCHEMA, name="e.Suit", parameters=parameters)
    assert there_and_back(schema, "SPADES", enhanced=True) == (schema, "SPADES")
    assert there_and_back(schema, "SPADES") == (schema, "SPADES")
    with pytest.raises(DataError, match="CLUBS"):
        there_and_back(schema, "CLUBS", enhanced=True)


def test_fixed_bytes_come_back_and_decimals_are_padded_to_their_size() -> None:
    size = {"connect.fixed.size": "4", "connect.decimal.precision": "9"}
    fixed = replace(BYTES_SCHEMA, name="f.Four", parameters=size)
    assert there_and_back(fixed, b"abcd") == (fixed, b"abcd")
    price = replace(decimal_schema(2), parameters={"scale": "2", **size})
    assert there_and_back(price, Decimal("-1.25"))[1] == Decimal("-1.25")
    with pytest.raises(DataError, match="needs 5 bytes, its fixed type has 4"):
        there_and_back(price, Decimal("123456789.25"))


@pytest.mark.parametrize("value", ["text", 2**70, None])
def test_a_value_that_does_not_fit_is_refused_in_connects_words(value: ConnectValue) -> None:
    schema = SchemaBuilder.struct().name("S").field("a", INT64_SCHEMA).build()
    with pytest.raises(DataError, match='field: "a"'):
        AvroFormat(AvroOptions.parse({})).encoder(schema, None)(Struct.of_valid(schema, [value]))


@pytest.mark.parametrize("data", [b"", b"\x04", b"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"])
def test_bytes_of_another_schema_are_refused(data: bytes) -> None:
    avro = AvroFormat(AvroOptions.parse({}))
    _, decode = avro.decoder(avro.describe(OPTIONAL_STRING_SCHEMA).text, None, None)
    with pytest.raises(DataError, match="Failed to deserialize data to Avro"):
        decode(data)
