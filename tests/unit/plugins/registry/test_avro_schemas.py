"""What each Connect schema is in Avro, to the letter, and what Avro's own schemas are in Connect."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from copycat_avro.options import AvroOptions
from copycat_avro.schema_text import SchemaText
from copycat_connect.data import (
    DATE_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_registry.avro.converter import AvroFormat
from hypothesis import given

from tests.unit.plugins.registry.connect_data import described, options

INNER = SchemaBuilder.struct().name("a.b.Inner").field("x", INT64_SCHEMA).build()
LOGICAL = "org.apache.kafka.connect.data"


def written(schema: Schema | None, **values: Any) -> str:
    return AvroFormat(options(AvroOptions, **values)).describe(schema).text.text


def read(avro: Any, *, version: int | None = None, **values: Any) -> Schema | None:
    text = SchemaText(avro if isinstance(avro, str) else json.dumps(avro))
    return AvroFormat(options(AvroOptions, **values)).decoder(text, None, version)[0]


@pytest.mark.parametrize(
    ("schema", "avro"),
    [
        (INT8_SCHEMA, '{"type":"int","connect.type":"int8"}'),
        (INT16_SCHEMA, '{"type":"int","connect.type":"int16"}'),
        (INT32_SCHEMA, '"int"'),
        (INT64_SCHEMA, '"long"'),
        (Schema(SchemaType.FLOAT32), '"float"'),
        (Schema(SchemaType.FLOAT64), '"double"'),
        (Schema(SchemaType.BOOLEAN), '"boolean"'),
        (STRING_SCHEMA, '"string"'),
        (Schema(SchemaType.BYTES), '"bytes"'),
        (OPTIONAL_STRING_SCHEMA, '["null","string"]'),
        (
            decimal_schema(2),
            '{"type":"bytes","scale":2,"precision":64,"connect.version":1,"connect.parameters":{"scale":"2"},'
            f'"connect.name":"{LOGICAL}.Decimal","logicalType":"decimal"}}',
        ),
        (
            DATE_SCHEMA,
            f'{{"type":"int","connect.version":1,"connect.name":"{LOGICAL}.Date","logicalType":"date"}}',
        ),
        (
            TIME_SCHEMA,
            f'{{"type":"int","connect.version":1,"connect.name":"{LOGICAL}.Time","logicalType":"time-millis"}}',
        ),
        (
            TIMESTAMP_SCHEMA,
            f'{{"type":"long","connect.version":1,"connect.name":"{LOGICAL}.Timestamp",'
            '"logicalType":"timestamp-millis"}',
        ),
        (SchemaBuilder.array(STRING_SCHEMA).build(), '{"type":"array","items":"string"}'),
        (
            SchemaBuilder.map(STRING_SCHEMA, OPTIONAL_INT32_SCHEMA).build(),
            '{"type":"map","values":["null","int"]}',
        ),
        (
            SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(),
            '{"type":"array","items":{"type":"record","name":"MapEntry","namespace":"io.confluent.connect.avro",'
            '"fields":[{"name":"key","type":"int"},{"name":"value","type":"string"}]}}',
        ),
        (
            SchemaBuilder.struct().field("a", INT32_SCHEMA).build(),
            '{"type":"record","name":"ConnectDefault","namespace":"io.confluent.connect.avro",'
            '"fields":[{"name":"a","type":"int"}]}',
        ),
    ],
)
def test_a_schema_is_written_to_the_letter_and_read_back(schema: Schema, avro: str) -> None:
    assert written(schema) == avro
    assert read(avro) == schema


def test_metadata_travels_in_properties_of_connect() -> None:
    count = SchemaBuilder(SchemaType.INT32).doc("how many").default_value(3).parameter("unit", "box").build()
    schema = (
        SchemaBuilder.struct().name("shop.Order").version(4).doc("an order").field("count", count).build()
    )
    assert written(schema) == (
        '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"count","type":{"type":"int",'
        '"connect.doc":"how many","connect.parameters":{"unit":"box"},"connect.default":3},"default":3}],'
        '"connect.doc":"an order","connect.version":4,"connect.name":"shop.Order"}'
    )
    assert read(written(schema)) == schema
    assert written(schema, meta_data=False) == (
        '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"count","type":"int","default":3}]}'
    )


@pytest.mark.parametrize(
    ("schema", "default"),
    [
        (SchemaBuilder(SchemaType.BYTES), b"\x00\xff"),
        (SchemaBuilder(SchemaType.FLOAT32), 0.5),
        (SchemaBuilder.array(INT32_SCHEMA), [1, 2]),
        (SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA), {"a": 1}),
        (SchemaBuilder.map(INT32_SCHEMA, INT32_SCHEMA), {1: 2}),
    ],
)
def test_a_default_of_each_kind_survives(schema: SchemaBuilder, default: object) -> None:
    field = schema.optional().default_value(default).build()
    whole = SchemaBuilder.struct().name("S").field("f", field).build()
    assert read(written(whole)) == whole


def test_a_default_that_is_a_struct_survives() -> None:
    field = replace(INNER, default=Struct(INNER, {"x": 5}))
    whole = SchemaBuilder.struct().name("S").field("f", field).build()
    found = read(written(whole))
    assert found is not None
    assert found.fields[0].schema.default["x"] == 5


def test_a_named_type_is_defined_once_and_then_named() -> None:
    schema = (
        SchemaBuilder.struct().name("a.b.Outer")
        .field("one", INNER).field("two", replace(INNER, optional=True))
        .field("more", SchemaBuilder.array(INNER).build()).build()
    )  # fmt: skip
    fields = json.loads(written(schema))["fields"]
    assert [field["type"] for field in fields[1:]] == [["null", "Inner"], {"type": "array", "items": "Inner"}]
    assert read(written(schema)) == schema


def test_two_types_of_one_name_are_refused_with_the_way_out() -> None:
    other = SchemaBuilder.struct().name("a.b.Inner").field("y", INT64_SCHEMA).build()
    schema = SchemaBuilder.struct().name("O").field("one", INNER).field("two", other).build()
    with pytest.raises(DataError, match=r"a\.b\.Inner, which Avro does not allow: name them apart"):
        written(schema)


def test_invalid_names_are_refused_or_scrubbed() -> None:
    schema = SchemaBuilder.struct().name("my-db.1st").field("total €", INT32_SCHEMA).build()
    with pytest.raises(DataError, match=r"'my-db' is no name in Avro.*scrub\.invalid\.names=true"):
        written(schema)
    avro = json.loads(written(schema, scrub=True))
    assert (avro["namespace"], avro["name"], avro["fields"][0]["name"]) == (
        "my_db", "x1st", "total__E2_82_AC"
    )  # fmt: skip
    assert avro["connect.name"] == "my-db.1st"


def test_structs_without_names_are_numbered() -> None:
    inner = SchemaBuilder.struct().field("x", INT32_SCHEMA).build()
    avro = json.loads(written(SchemaBuilder.struct().field("a", inner).build()))
    assert (avro["name"], avro["fields"][0]["type"]["name"]) == ("ConnectDefault", "ConnectDefault2")


def test_equal_structs_without_names_are_one_type() -> None:
    inner = SchemaBuilder.struct().field("x", INT32_SCHEMA).build()
    schema = (
        SchemaBuilder.struct().name("O").field("a", inner).field("b", replace(inner, optional=True)).build()
    )
    types = [field["type"] for field in json.loads(written(schema))["fields"]]
    assert (types[0]["name"], types[1]) == (
        "ConnectDefault",
        ["null", "io.confluent.connect.avro.ConnectDefault"],
    )
    assert read(written(schema)) == schema


def test_docs_of_avro_become_parameters_and_docs_again() -> None:
    avro = {
        "type": "record", "name": "R", "doc": "a record",
        "fields": [{"name": "f", "type": "int", "doc": "a field", "default": 1}],
    }  # fmt: skip
    schema = read(avro)
    assert schema is not None
    prefix = "io.confluent.connect.avro"
    assert schema.parameters == {f"{prefix}.record.doc": "a record", f"{prefix}.field.doc.f": "a field"}
    assert schema.fields[0].schema.default == 1
    again = json.loads(written(schema))
    assert (again["doc"], again["fields"][0]["doc"], again["fields"][0]["default"]) == (
        "a record",
        "a field",
        1,
    )


def test_the_version_of_the_subject_is_the_schemas_unless_it_has_its_own() -> None:
    plain = {"type": "record", "name": "R", "fields": []}
    assert read(plain, version=7) == Schema(SchemaType.STRUCT, name="R", version=7)
    assert read({**plain, "connect.version": 2}, version=7) == Schema(SchemaType.STRUCT, name="R", version=2)


def test_an_enum_is_a_string_that_remembers_its_symbols() -> None:
    mark = "io.confluent.connect.avro.Enum"
    avro = {"type": "enum", "name": "e.E", "symbols": ["A", "B"]}
    symbols = {mark: "e.E", f"{mark}.A": "A", f"{mark}.B": "B"}
    assert read(avro) == replace(STRING_SCHEMA, name="e.E", parameters=symbols)
    shared = "org.apache.kafka.connect.data.Enum"
    symbols = {shared: "e.E", f"{shared}.A": "0", f"{shared}.B": "1"}
    assert read(avro, sum_types=True) == replace(STRING_SCHEMA, name="e.E", parameters=symbols)


def test_a_union_is_a_struct_named_by_its_members() -> None:
    avro = ["null", "int", {"type": "record", "name": "n.R", "fields": []}]
    names = {True: ["int", "n.R"], False: ["int", "R"]}
    for enhanced, expected in names.items():
        schema = read(avro, enhanced=enhanced)
        assert schema is not None
        assert (schema.name, schema.optional) == ("io.confluent.connect.avro.Union", True)
        assert [field.name for field in schema.fields] == expected
        assert all(field.schema.optional for field in schema.fields)


def test_a_union_of_one_type_is_that_type_unless_it_is_not_to_be_flattened() -> None:
    assert read(["int"]) == INT32_SCHEMA
    kept = read(["int"], flatten_singletons=False)
    assert kept is not None
    assert kept.name == "io.confluent.connect.avro.Union"


@pytest.mark.parametrize(
    ("avro", "problem"),
    [
        ('"null"', "Standalone null schemas"),
        (
            {"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L"]}]},
            "contains itself",
        ),
        ({"type": "array", "items": "unheard"}, "The Avro schema is not valid"),
        ({"type": "int", "connect.version": "1"}, "Invalid Connect version"),
        ({"type": "int", "connect.parameters": {"a": 1}}, "Expected JSON object of strings"),
    ],
)
def test_what_connect_cannot_hold_is_refused(avro: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read(avro)


def test_a_schema_may_refer_to_others() -> None:
    inner = SchemaText(
        json.dumps({"type": "record", "name": "n.R", "fields": [{"name": "x", "type": "int"}]})
    )
    outer = json.dumps({"type": "record", "name": "n.O", "fields": [{"name": "r", "type": "n.R"}]})
    schema, decode = AvroFormat(AvroOptions.parse({})).decoder(
        SchemaText(outer, (("n.R", inner),)), None, None
    )
    assert schema is not None
    assert decode(b"\x0a")["r"]["x"] == 5


def test_a_record_is_projected_onto_the_schema_it_is_wanted_as() -> None:
    old = SchemaText(
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'
    )
    new = SchemaText(
        '{"type":"record","name":"R","fields":[{"name":"c","type":"string","default":"new"},'
        '{"name":"a","type":"long"}]}'
    )
    schema, decode = AvroFormat(AvroOptions.parse({})).decoder(old, new, 2)
    assert schema is not None
    assert [field.schema.type for field in schema.fields] == [SchemaType.STRING, SchemaType.INT64]
    assert str(decode(b"\x02\x04")) == "Struct{c=new,a=1}"


def test_what_a_latest_version_cannot_read_is_told() -> None:
    avro = AvroFormat(AvroOptions.parse({}))
    one = SchemaText('{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}')
    two = SchemaText(
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'
    )
    assert avro.misfit(two, one) is None
    assert "b" in (avro.misfit(one, two) or "")


@given(described())
def test_whatever_metadata_a_schema_has_comes_back(schema: Schema) -> None:
    assert read(written(schema)) == schema
