"""What each Connect schema is in JSON Schema, that its values survive, and what other JSON Schemas become."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from copycat_avro.schema_text import SchemaText
from copycat_connect.data import (
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
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
from copycat_registry.jsonschema.converter import JsonSchemaFormat
from copycat_registry.jsonschema.plugin import JsonSchemaOptions
from hypothesis import given

from tests.unit.plugins.registry.connect_data import EXAMPLES, Sample, described, options, samples

LOGICAL = "org.apache.kafka.connect.data"
POINT = SchemaBuilder.struct().name("P").field("x", INT32_SCHEMA).field("y", OPTIONAL_INT32_SCHEMA).build()


def format_with(**values: Any) -> JsonSchemaFormat:
    return JsonSchemaFormat(options(JsonSchemaOptions, **values))


def written(schema: Schema, **values: Any) -> Any:
    return json.loads(format_with(**values).describe(schema).text.text)


def read(schema: Any, *, version: int | None = None, **values: Any) -> Schema | None:
    return format_with(**values).decoder(SchemaText(json.dumps(schema)), None, version)[0]


def there_and_back(schema: Schema, value: ConnectValue, **values: Any) -> tuple[Schema | None, ConnectValue]:
    found = format_with(**values)
    read_schema, decode = found.decoder(found.describe(schema).text, None, None)
    return read_schema, decode(found.encoder(schema, None)(value))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (INT8_SCHEMA, {"type": "integer", "connect.type": "int8"}),
        (INT64_SCHEMA, {"type": "integer", "connect.type": "int64"}),
        (Schema(SchemaType.FLOAT32), {"type": "number", "connect.type": "float32"}),
        (Schema(SchemaType.FLOAT64), {"type": "number", "connect.type": "float64"}),
        (Schema(SchemaType.BOOLEAN), {"type": "boolean"}),
        (STRING_SCHEMA, {"type": "string"}),
        (Schema(SchemaType.BYTES), {"type": "string", "connect.type": "bytes"}),
        (OPTIONAL_STRING_SCHEMA, {"oneOf": [{"type": "null"}, {"type": "string"}]}),
        (
            decimal_schema(2),
            {
                "type": "string", "title": f"{LOGICAL}.Decimal",
                "connect.type": "bytes", "connect.version": 1,
                "connect.parameters": {"scale": "2"},
            },
        ),
        (
            DATE_SCHEMA,
            {"type": "integer", "title": f"{LOGICAL}.Date", "connect.type": "int32", "connect.version": 1},
        ),
        (
            TIMESTAMP_SCHEMA,
            {
                "type": "integer", "title": f"{LOGICAL}.Timestamp",
                "connect.type": "int64", "connect.version": 1,
            },
        ),
        (SchemaBuilder.array(STRING_SCHEMA).build(), {"type": "array", "items": {"type": "string"}}),
        (
            SchemaBuilder.map(STRING_SCHEMA, STRING_SCHEMA).build(),
            {"type": "object", "additionalProperties": {"type": "string"}, "connect.type": "map"},
        ),
        (
            SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(),
            {
                "type": "array", "connect.type": "map",
                "items": {
                    "type": "object",
                    "properties": {
                        "key": {"type": "integer", "connect.type": "int32", "connect.index": 0},
                        "value": {"type": "string", "connect.index": 1},
                    },
                },
            },
        ),
        (
            POINT,
            {
                "type": "object", "title": "P",
                "properties": {
                    "x": {"type": "integer", "connect.type": "int32", "connect.index": 0},
                    "y": {
                        "oneOf": [{"type": "null"}, {"type": "integer", "connect.type": "int32"}],
                        "connect.index": 1,
                    },
                },
            },
        ),
    ],
)  # fmt: skip
def test_a_schema_is_written_and_read_back(schema: Schema, expected: Any) -> None:
    assert written(schema) == expected
    assert read(expected) == schema


@pytest.mark.parametrize(("schema", "value"), EXAMPLES, ids=str)
def test_a_value_of_each_type_comes_back_with_its_schema(schema: Schema, value: ConnectValue) -> None:
    assert there_and_back(schema, value) == (schema, value)


def test_infinity_is_text_to_jackson_and_read_as_zero() -> None:
    assert format_with().encoder(FLOAT64_SCHEMA, None)(-math.inf) == b'"-Infinity"'
    assert there_and_back(FLOAT64_SCHEMA, -math.inf) == (FLOAT64_SCHEMA, 0.0)


@given(samples())
def test_whatever_a_schema_can_say_comes_back(sample: Sample) -> None:
    assert there_and_back(*sample, fail_invalid=True) == sample


def test_the_bytes_are_jacksons() -> None:
    point = Struct(POINT, {"x": 1})
    assert format_with().encoder(POINT, None)(point) == b'{"x":1,"y":null}'
    assert format_with(numeric_decimals=True).encoder(decimal_schema(2), None)(Decimal("1.50")) == b"1.50"
    assert format_with().encoder(decimal_schema(2), None)(Decimal("1.50")) == b'"AJY="'


def test_metadata_and_defaults_travel() -> None:
    count = SchemaBuilder(SchemaType.INT32).doc("how many").default_value(3).parameter("unit", "box").build()
    schema = SchemaBuilder.struct().name("Order").version(4).doc("an order").field("count", count).build()
    assert read(written(schema)) == schema
    assert there_and_back(schema, Struct(schema))[1]["count"] == 3


def test_a_null_that_a_schema_allows_is_a_payload() -> None:
    found = format_with()
    assert [found.null_payload(each) for each in (OPTIONAL_STRING_SCHEMA, STRING_SCHEMA, None)] == [
        True, False, False
    ]  # fmt: skip
    assert there_and_back(OPTIONAL_STRING_SCHEMA, None) == (OPTIONAL_STRING_SCHEMA, None)


def test_values_without_a_schema_are_refused_with_the_way_out() -> None:
    with pytest.raises(DataError, match=r"give the records one, or set JsonConverter"):
        format_with().describe(None)


def test_plain_json_schemas_are_read_with_the_widest_types() -> None:
    schema = read({
        "type": "object", "required": ["id"],
        "properties": {
            "id": {"type": "integer"}, "price": {"type": "number"}, "tags": {"items": {"type": "string"}}
        },
    }, version=3, optional_unless_required=True)  # fmt: skip
    assert schema is not None
    assert schema.version == 3
    assert [(field.name, field.schema.type, field.schema.optional) for field in schema.fields] == [
        ("id", SchemaType.INT64, False), ("price", SchemaType.FLOAT64, True), ("tags", SchemaType.ARRAY, True)
    ]  # fmt: skip


def test_properties_come_in_the_order_connect_gave_them() -> None:
    properties = {"b": {"type": "string", "connect.index": 1}, "a": {"type": "string", "connect.index": 0}}
    schema = read({"type": "object", "properties": properties})
    assert schema is not None
    assert [field.name for field in schema.fields] == ["a", "b"]


def test_an_absent_property_stays_unset() -> None:
    schema, decode = format_with().decoder(SchemaText(json.dumps(written(POINT))), None, None)
    assert decode(b"{}") == Struct(POINT)
    assert schema == POINT


def test_references_within_and_to_other_schemas_are_followed() -> None:
    other = SchemaText('{"type":"object","title":"O","properties":{"x":{"type":"integer"}}}')
    text = SchemaText(
        '{"type":"object","properties":{"a":{"$ref":"#/definitions/T"},"b":{"$ref":"other.json"}},'
        '"definitions":{"T":{"type":"string"}}}',
        (("other.json", other),),
    )
    schema, decode = format_with(fail_invalid=True).decoder(text, None, None)
    assert schema is not None
    assert [field.schema.type for field in schema.fields] == [SchemaType.STRING, SchemaType.STRUCT]
    assert str(decode(b'{"a":"t","b":{"x":1}}')) == "Struct{a=t,b=Struct{x=1}}"


def test_a_type_list_with_null_and_all_of_are_understood() -> None:
    assert read({"type": ["null", "string"]}) == OPTIONAL_STRING_SCHEMA
    parts = [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "boolean"}}}]
    schema = read({"allOf": parts})
    assert schema is not None
    assert [field.name for field in schema.fields] == ["a", "b"]


def test_a_union_is_a_struct_and_the_fitting_member_is_chosen() -> None:
    one = {"type": "object", "title": "One", "properties": {"a": {"type": "string"}}}
    two = {"type": "object", "title": "Two", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    text = SchemaText(json.dumps({"oneOf": [{"type": "string"}, one, two]}))
    schema, decode = format_with().decoder(text, None, None)
    assert schema is not None
    assert schema.name == "io.confluent.connect.json.OneOf"
    for payload, place in ((b'"s"', 0), (b'{"a":"x"}', 1), (b'{"a":"x","b":"y"}', 2)):
        value = decode(payload)
        assert [member is not None for member in value.values].index(True) == place
        assert format_with().encoder(schema, None)(value) == payload
    with pytest.raises(DataError, match="Did not find matching oneof field"):
        decode(b"5")


def test_an_enum_is_a_string_that_remembers_its_symbols() -> None:
    mark = "io.confluent.connect.json.Enum"
    schema = replace(STRING_SCHEMA, parameters={mark: "", f"{mark}.A": "A", f"{mark}.B": "B"})
    assert read({"enum": ["A", "B"]}) == schema
    assert written(schema) == {"enum": ["A", "B"]}


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({}, "anything may stand there"),
        ({"type": "array"}, "did not specify the items type"),
        ({"type": "null"}, "its type is null"),
        ({"$ref": "#/definitions/none"}, "refers to #/definitions/none, which is not there"),
        (
            {
                "$ref": "#/definitions/L",
                "definitions": {"L": {"properties": {"n": {"$ref": "#/definitions/L"}}}},
            },
            "contains itself",
        ),
    ],
)
def test_what_connect_cannot_hold_is_refused(schema: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read(schema)


def test_invalid_payloads_are_refused_where_that_is_wanted_without_their_values() -> None:
    text = SchemaText('{"type":"object","properties":{"pin":{"type":"string","maxLength":2}}}')
    _, lenient = format_with().decoder(text, None, None)
    assert lenient(b'{"pin":"geheim"}')["pin"] == "geheim"
    _, strict = format_with(fail_invalid=True).decoder(text, None, None)
    with pytest.raises(
        DataError, match=r"not valid at \$\.pin, where its JSON Schema says maxLength"
    ) as caught:
        strict(b'{"pin":"geheim"}')
    assert "geheim" not in caught.value.message


@given(described())
def test_whatever_metadata_a_schema_has_comes_back(schema: Schema) -> None:
    assert read(written(schema)) == schema
