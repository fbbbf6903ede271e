"""Values that contradict their schema are errors about data in every converter, never Python's own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from copycat_avro.options import AvroOptions
from copycat_connect.data import (
    INT8_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter
from copycat_plugins.converters.simple_header import SimpleHeaderConverter
from copycat_plugins.converters.string import StringConverter
from copycat_registry.avro.converter import AvroFormat
from copycat_registry.jsonschema.converter import JsonSchemaFormat
from copycat_registry.jsonschema.plugin import JsonSchemaOptions
from copycat_registry.protobuf.converter import ProtobufFormat
from copycat_registry.protobuf.plugin import ProtobufOptions
from copycat_registry.schema_text import SchemaFormat

from tests.unit.plugins.registry.connect_data import EXAMPLES

FORMATS: dict[str, Callable[[], SchemaFormat]] = {
    "Avro": lambda: AvroFormat(AvroOptions.parse({})),
    "Protobuf": lambda: ProtobufFormat(ProtobufOptions.parse({})),
    "JSON Schema": lambda: JsonSchemaFormat(JsonSchemaOptions.parse({})),
}
ODD: list[Any] = [
    None, object(), 1j, {"a": 1}, {1: 2}, [1, "a", None], ["x"], [None], "text", b"bytes", 2**70, 1.5,
    float("nan"), True, {"a": object()}, [[1]], (1, 2), {(1,): 1}, "\ud800", {"k": None}, [{}], Exception,
]  # fmt: skip
POINT = SchemaBuilder.struct().name("P").field("x", INT32_SCHEMA).build()
NESTED = [
    SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(),
    SchemaBuilder.map(STRING_SCHEMA, SchemaBuilder.array(INT8_SCHEMA).build()).build(),
    SchemaBuilder.map(POINT, POINT).build(),
    SchemaBuilder.array(POINT).build(),
    SchemaBuilder.array(SchemaBuilder.map(INT32_SCHEMA, decimal_schema(2)).build()).optional().build(),
    SchemaBuilder.struct()
    .name("io.confluent.connect.avro.Union")
    .field("int", OPTIONAL_INT32_SCHEMA)
    .build(),
    SchemaBuilder.struct().name("io.confluent.connect.json.OneOf").field("a", OPTIONAL_INT32_SCHEMA).build(),
    SchemaBuilder.struct()
    .name("io.confluent.connect.protobuf.Union.u")
    .field("a", OPTIONAL_INT32_SCHEMA)
    .build(),
]
SCHEMAS = [*(schema for schema, _ in EXAMPLES), *NESTED]
VALUES = [
    *ODD,
    *(Struct.of_valid(each, [value]) for each in (POINT, *NESTED[-3:]) for value in ODD),
    *(value for _, value in EXAMPLES),
]


def raw_struct(schema: Schema, value: ConnectValue) -> tuple[Schema, ConnectValue]:
    """Put a value unchecked into a struct, as plugins can."""
    outer = SchemaBuilder.struct().name("Outer").field("v", schema).build()
    return outer, Struct.of_valid(outer, [value])


@pytest.mark.parametrize("name", FORMATS)
def test_any_value_under_any_schema_is_written_or_refused_by_registry_converters(name: str) -> None:
    for schema in SCHEMAS:
        with suppress(DataError):
            encode = FORMATS[name]().encoder(schema, None)
            outer_encode = FORMATS[name]().encoder(raw_struct(schema, None)[0], None)
            for value in VALUES:
                with suppress(DataError):
                    assert isinstance(encode(value), bytes)
                with suppress(DataError):
                    assert isinstance(outer_encode(raw_struct(schema, value)[1]), bytes)


@pytest.mark.parametrize(
    "converter", [JsonConverter(), StringConverter()], ids=lambda each: type(each).__name__
)
def test_any_value_under_any_schema_is_written_or_refused(converter: JsonConverter | StringConverter) -> None:
    converter.configure({})
    for schema in SCHEMAS:
        for value in VALUES:
            for kind, given in ((schema, value), raw_struct(schema, value)):
                with suppress(DataError):
                    converter.from_connect("t", None, kind, given)
                with suppress(DataError):
                    converter.from_connect_batch("t", kind, [given, given])


def test_any_header_under_any_schema_is_written_or_refused() -> None:
    converter = SimpleHeaderConverter()
    for schema in SCHEMAS:
        for value in VALUES:
            for kind, given in ((schema, value), raw_struct(schema, value)):
                with suppress(DataError):
                    converter.from_connect_header("t", "h", kind, given)
