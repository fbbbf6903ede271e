"""What each Connect schema is in Protobuf, that its values survive, and what other .proto files become."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from copycat_avro.schema_text import SchemaText
from copycat_connect.data import (
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
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
from copycat_registry.protobuf.converter import ProtobufFormat
from copycat_registry.protobuf.plugin import ProtobufOptions
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plugins.registry.connect_data import EXAMPLES, PLAIN, Sample, options

PREFIX = "io.confluent.connect.protobuf"
HEAD = 'syntax = "proto3";\n'


def format_with(**values: Any) -> ProtobufFormat:
    return ProtobufFormat(options(ProtobufOptions, **values))


def written(schema: Schema, **values: Any) -> str:
    return format_with(**values).describe(schema).text.text


def read(text: str, head: bytes = b"\0", **values: Any) -> Schema:
    schema, _ = format_with(**values).decoder(SchemaText(text), None, None, head)
    assert schema is not None
    return schema


def there_and_back(schema: Schema, value: ConnectValue, **values: Any) -> ConnectValue:
    found = format_with(**values)
    _, decode = found.decoder(found.describe(schema).text, None, None)
    data = found.encoder(schema, None)(value)
    start = found.head_length(data)
    return decode(data[start:])


def struct_of(schema: Schema) -> Schema:
    return SchemaBuilder.struct().name("t.S").field("f", schema).build()


@pytest.mark.parametrize(("schema", "value"), EXAMPLES, ids=str)
def test_a_value_of_each_type_comes_back(schema: Schema, value: ConnectValue) -> None:
    whole = struct_of(schema)
    assert there_and_back(whole, Struct(whole, {"f": value}))["f"] == value
    optional = struct_of(replace(schema, optional=True))
    for value_or_null in (value, None):
        read_value = there_and_back(
            optional, Struct(optional, {"f": value_or_null}), optional_for_nullables=True
        )
        assert read_value.get_without_default("f") == value_or_null


@pytest.mark.parametrize("schema", [FLOAT32_SCHEMA, FLOAT64_SCHEMA], ids=str)
def test_infinity_comes_back(schema: Schema) -> None:
    whole = struct_of(schema)
    assert there_and_back(whole, Struct(whole, {"f": -math.inf}))["f"] == -math.inf


@st.composite
def messages(draw: st.DrawFn, depth: int = 1) -> Sample:
    """Draw a struct such as Protobuf can say: no lists of lists, no nulls in lists."""
    builder, values = SchemaBuilder.struct().name(f"t.S{draw(st.uuids()).hex}"), []
    for place in range(draw(st.integers(1, 4))):
        schema = draw(st.sampled_from(list(PLAIN)))
        kind = draw(st.sampled_from(("plain", "optional", "list", "map", *(("struct",) if depth else ()))))
        value: ConnectValue = draw(PLAIN[schema])
        if kind == "optional":
            schema, value = replace(schema, optional=True), draw(st.sampled_from((None, value)))
        elif kind == "list":
            schema, value = SchemaBuilder.array(schema).build(), [value, value]
        elif kind == "map":
            schema, value = SchemaBuilder.map(STRING_SCHEMA, schema).build(), {"a": value}
        elif kind == "struct":
            schema, value = draw(messages(depth - 1))
        builder.field(f"f{place}", schema)
        values.append(value)
    whole = builder.build()
    return Sample(whole, Struct.of_valid(whole, values))


def plain(value: ConnectValue) -> ConnectValue:
    return [plain(each) for each in value.values] if isinstance(value, Struct) else value


@given(messages())
def test_whatever_a_message_can_say_comes_back(sample: Sample) -> None:
    assert plain(there_and_back(*sample, optional_for_nullables=True)) == plain(sample.value)


def test_the_file_and_the_bytes_are_those_of_protobuf() -> None:
    schema = (
        SchemaBuilder.struct().name("shop.Order")
        .field("id", INT64_SCHEMA).field("note", OPTIONAL_STRING_SCHEMA).field("price", decimal_schema(2))
        .field("at", TIMESTAMP_SCHEMA).field("level", INT8_SCHEMA)
        .field("tags", SchemaBuilder.array(STRING_SCHEMA).build())
        .field("stock", SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build()).build()
    )  # fmt: skip
    assert written(schema) == (
        'syntax = "proto3";\npackage shop;\n\nimport "confluent/meta.proto";\n'
        'import "confluent/type/decimal.proto";\nimport "google/protobuf/timestamp.proto";\n\n'
        "message Order {\n  int64 id = 1;\n  string note = 2;\n"
        "  confluent.type.Decimal price = 3 "
        '[(confluent.field_meta) = { params: [{ key: "scale", value: "2" }] }];\n'
        "  google.protobuf.Timestamp at = 4;\n"
        '  int32 level = 5 [(confluent.field_meta) = { params: [{ key: "connect.type", value: "int8" }] }];\n'
        "  repeated string tags = 6;\n  repeated ConnectDefault1Entry stock = 7;\n\n"
        "  message ConnectDefault1Entry {\n    string key = 1;\n    int32 value = 2;\n  }\n}\n"
    )
    order = Struct(schema, {
        "id": 1, "note": "hi", "at": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "level": 2,
        "tags": ["a"], "stock": {"b": 3},
    })  # fmt: skip
    order.values[2] = None
    assert format_with().encoder(schema, None)(order) == bytes.fromhex(
        "00" "0801" "12026869" "22020801" "2802" "320161" "3a050a01621003"
    )  # fmt: skip


def test_a_schema_that_was_read_is_written_as_it_was() -> None:
    text = written(struct_of(SchemaBuilder.array(INT32_SCHEMA).build()))
    assert written(read(text, enhanced=True)) == text


@pytest.mark.parametrize(
    ("schema", "value", "wrapper"),
    [(STRING_SCHEMA, "k", "StringValue"), (INT64_SCHEMA, 7, "Int64Value"), (BYTES_SCHEMA, b"b", "BytesValue"),
     (FLOAT64_SCHEMA, 0.5, "DoubleValue"), (INT32_SCHEMA, -1, "Int32Value")],
)  # fmt: skip
def test_a_plain_value_is_a_wrapper_message(schema: Schema, value: ConnectValue, wrapper: str) -> None:
    text = written(schema)
    assert f"package google.protobuf;\n\nmessage {wrapper} {{" in text
    assert read(text) == schema
    assert there_and_back(schema, value) == value
    assert read(text, wrapper_for_primitives=False).name == wrapper


def test_null_is_told_from_zero_with_wrappers_or_the_word_optional_and_else_lost() -> None:
    schema = struct_of(OPTIONAL_INT32_SCHEMA)
    null = Struct(schema)
    assert there_and_back(schema, null)["f"] == 0
    for option in ("optional_for_nullables", "wrapper_for_nullables"):
        assert there_and_back(schema, null, **{option: True})["f"] is None
        assert there_and_back(schema, Struct(schema, {"f": 0}), **{option: True})["f"] == 0


def test_an_unset_field_is_written_as_its_default_unless_that_is_ignored() -> None:
    schema = struct_of(SchemaBuilder(SchemaType.INT32).optional().default_value(5).build())
    assert there_and_back(schema, Struct(schema))["f"] == 5
    assert there_and_back(schema, Struct(schema), ignore_default=True)["f"] == 0


def test_a_oneof_is_a_struct_with_one_field_set_and_is_written_as_one_again() -> None:
    text = HEAD + "message M {\n  oneof choice {\n    int32 number = 1;\n    string text = 2;\n  }\n}\n"
    schema, decode = format_with().decoder(SchemaText(text), None, None)
    assert schema is not None
    union = schema.fields[0]
    assert (union.name, union.schema.name) == ("choice_0", f"{PREFIX}.Union.choice")
    value = decode(b"\x12\x01x")
    assert str(value) == "Struct{choice_0=Struct{text=x}}"
    assert format_with().encoder(schema, None)(value) == b"\0\x12\x01x"
    assert written(schema) == text.replace(HEAD, HEAD + "\n")
    assert [field.name for field in read(text, flatten_unions=True).fields] == ["number", "text"]


def test_an_enum_is_text_that_remembers_its_numbers() -> None:
    text = HEAD + "message M {\n  E e = 1;\n  enum E {\n    A = 0;\n    B = 5;\n  }\n}\n"
    schema, decode = format_with().decoder(SchemaText(text), None, None)
    assert schema is not None
    assert schema.fields[0].schema.parameters == {
        f"{PREFIX}.Enum": "E", f"{PREFIX}.Enum.A": "0", f"{PREFIX}.Enum.B": "5", f"{PREFIX}.Tag": "1"
    }  # fmt: skip
    value = decode(b"\x08\x05")
    assert value["e"] == "B"
    assert format_with().encoder(schema, None)(value) == b"\0\x08\x05"
    _, decode_int = format_with(int_for_enums=True).decoder(SchemaText(text), None, None)
    assert decode_int(b"\x08\x05")["e"] == 5


def test_protobufs_own_maps_and_unsigned_numbers_are_read_and_written() -> None:
    text = HEAD + "message M {\n  map<string, uint32> m = 3;\n}\n"
    found = format_with()
    schema, decode = found.decoder(SchemaText(text), None, None)
    value = decode(b"\x1a\x08\x0a\x01a\x10\xff\xff\xff\x7f")
    assert value["m"] == {"a": 2**28 - 1}
    assert found.encoder(schema, SchemaText(text))(value) == b"\0\x1a\x08\x0a\x01a\x10\xff\xff\xff\x7f"


UNSIGNED = """import "google/protobuf/wrappers.proto";
message M {
  uint64 a = 1;
  fixed64 b = 2;
  google.protobuf.UInt64Value c = 3;
  repeated uint64 d = 4;
  map<uint64, fixed64> e = 5;
}
"""


@pytest.mark.parametrize("number", [0, 2**63 - 1, 2**63, 2**64 - 1])
def test_unsigned_numbers_of_64_bits_are_javas_longs_and_come_back(number: int) -> None:
    varint, fixed = bytearray(), number.to_bytes(8, "little")
    rest = number
    while rest > 127:
        varint.append(rest & 127 | 128)
        rest >>= 7
    one = bytes((*varint, rest))
    pair = b"\x08" + one + b"\x11" + fixed
    data = (
        b"".join(
            (b"\x08" + one + b"\x11" + fixed, b"\x1a" + bytes((len(one) + 1,)) + b"\x08" + one)
            if number
            else (b"\x1a\x00",)
        )
        + b"\x22"
        + bytes((len(one),))
        + one
        + b"\x2a"
        + bytes((len(pair),))
        + pair
    )
    found = format_with(wrapper_for_nullables=True)
    schema, decode = found.decoder(SchemaText(HEAD + UNSIGNED), None, None)
    value = decode(data)
    assert isinstance(value, Struct)
    value.validate()
    long = number if number < 2**63 else number - 2**64
    assert value.values[:4] == [long, long, long, [long]]
    assert value["e"] == {long: long}
    assert found.encoder(schema, SchemaText(HEAD + UNSIGNED))(value) == b"\0" + data


def test_a_nested_message_is_found_by_its_indexes() -> None:
    text = HEAD + "message A { message B { int32 x = 1; } }\nmessage C { string y = 1; }\n"
    assert read(text, b"\x04\x00\x00").fields[0].name == "x"
    assert read(text, b"\x02\x02").fields[0].name == "y"
    with pytest.raises(DataError, match=r"names message \[7\] of a schema that has none there"):
        read(text, b"\x02\x0e")
    assert [format_with().head_length(data) for data in (b"\0rest", b"\x04\x00\x00rest")] == [1, 3]
    with pytest.raises(DataError, match="was not written as Protobuf"):
        format_with().head_length(b"\xff")


def test_the_latest_version_must_have_every_field() -> None:
    one, two = (
        SchemaText(HEAD + f"message M {{ {fields} }}\n") for fields in ("int32 a = 1;", "int32 b = 1;")
    )
    assert format_with().misfit(one, one) is None
    assert "field a" in (format_with().misfit(one, two) or "")


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (None, "give the records one"),
        (SchemaBuilder.array(STRING_SCHEMA).build(), "put it into a struct, e.g. with HoistField"),
        (
            struct_of(SchemaBuilder.array(SchemaBuilder.array(STRING_SCHEMA).build()).build()),
            "Array cannot be nested",
        ),
        (SchemaBuilder.struct().name("a-b").field("x", INT32_SCHEMA).build(), r"scrub\.invalid\.names=true"),
    ],
)  # fmt: skip
def test_what_protobuf_cannot_say_is_refused_with_the_way_out(schema: Schema | None, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        format_with().describe(schema)


def test_a_message_that_contains_itself_is_refused() -> None:
    with pytest.raises(DataError, match="The Protobuf message L contains itself"):
        read(HEAD + "message L { L next = 1; }\n")


def test_a_file_that_is_not_valid_is_refused() -> None:
    with pytest.raises(DataError, match="The Protobuf schema is not valid"):
        read("message {")


def test_invalid_names_are_scrubbed_where_that_is_wanted() -> None:
    schema = SchemaBuilder.struct().name("my-db.Row").field("_total €", INT32_SCHEMA).build()
    assert "int32 x_total__E2_82_AC = 1;" in written(schema, scrub=True)
    assert there_and_back(schema, Struct(schema, {"_total €": 5}), scrub=True).values == [5]


@pytest.mark.parametrize("value", ["text", 2**70])
def test_a_value_that_does_not_fit_is_refused_in_connects_words(value: ConnectValue) -> None:
    schema = struct_of(INT64_SCHEMA)
    with pytest.raises(DataError, match='field: "f"'):
        format_with().encoder(schema, None)(Struct.of_valid(schema, [value]))
