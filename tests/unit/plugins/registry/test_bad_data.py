"""Payloads made to do harm, values against their schema: read, written or refused as bad data."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from copycat_avro import anything
from copycat_avro.bounds import MAX_ITEMS_WITHOUT_BYTES, MAX_SELF_NESTING
from copycat_avro.options import AvroOptions
from copycat_avro.schema_text import SchemaText
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
from copycat_registry.schema_text import Decode, SchemaFormat
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plugins.registry.connect_data import EXAMPLES

EMPTY = {"type": "record", "name": "Empty", "fields": []}
NO_BYTES: dict[str, Any] = {
    "records without fields": EMPTY,
    "fixed of no bytes": {"type": "fixed", "name": "F", "size": 0},
    "records of what takes no bytes": {
        "type": "record", "name": "R", "fields": [{"name": "b", "type": EMPTY}],
    },
}  # fmt: skip
PLACES: dict[str, Any] = {
    "array": lambda items: {"type": "array", "items": items},
    "field": lambda items: {
        "type": "record", "name": "Outer",
        "fields": [{"name": "a", "type": {"type": "array", "items": items}}],
    },
    "union": lambda items: [{"type": "array", "items": items}, "string"],
    "array of arrays": lambda items: {"type": "array", "items": {"type": "array", "items": items}},
    "map of arrays": lambda items: {"type": "map", "values": {"type": "array", "items": items}},
}  # fmt: skip
#: What stands before the innermost array's count.
BEFORE = {
    "array": b"",
    "field": b"",
    "type of a type": b"",
    "union": b"\0",
    "array of arrays": b"\2",
    "map of arrays": b"\2\2k",
}
ORDER = {
    "type": "record", "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "raw", "type": "bytes"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "more", "type": {"type": "map", "values": "double"}},
    ],
}  # fmt: skip
PROTO = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";
import "confluent/type/decimal.proto";
message Order {
  message Line { string text = 1; repeated int32 numbers = 2; }
  int64 id = 1;
  string note = 2;
  repeated Line lines = 3;
  bytes raw = 4;
  map<string, double> more = 5;
  google.protobuf.Timestamp at = 6;
  google.type.Date day = 7;
  google.type.TimeOfDay hour = 8;
  confluent.type.Decimal price = 9;
}
"""
JSON_SCHEMA = {
    "type": "object", "title": "Order",
    "properties": {
        "id": {"type": "integer", "connect.type": "int64"},
        "note": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "raw": {"type": "string", "connect.type": "bytes"},
        "price": {
            "type": "string", "connect.type": "bytes", "title": "org.apache.kafka.connect.data.Decimal",
            "connect.parameters": {"scale": "2"},
        },
        "more": {"type": "object", "connect.type": "map", "additionalProperties": {"type": "number"}},
        "either": {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "array", "items": {
            "type": "number"}}]},
    },
}  # fmt: skip
HUGE = bytes([0x80] * 5 + [0x40])  # 2^40, zigzag
LONG = 200_000


def avro(schema: Any) -> Decode:
    return AvroFormat(AvroOptions.parse({})).decoder(SchemaText(json.dumps(schema)), None, None)[1]


def decode_of(name: str) -> Decode:
    formats: dict[str, tuple[SchemaFormat, str]] = {
        "Avro": (AvroFormat(AvroOptions.parse({})), json.dumps(ORDER)),
        "Avro without schema": (AvroFormat(AvroOptions.parse({})), json.dumps(anything.SCHEMA)),
        "Protobuf": (ProtobufFormat(ProtobufOptions.parse({})), PROTO),
        "JSON Schema": (JsonSchemaFormat(JsonSchemaOptions.parse({})), json.dumps(JSON_SCHEMA)),
    }
    made, text = formats[name]
    return made.decoder(SchemaText(text), None, None, b"\0")[1]


FORMATS = {name: decode_of(name) for name in ("Avro", "Avro without schema", "Protobuf", "JSON Schema")}
#: One value of each, to be cut short and changed.
WHOLE = {
    "Avro": bytes.fromhex("02 02 04 6869 02 0261 00 02 ff 02 04 0100 02 026b 0000000000000000 00"),
    "Avro without schema": b"\0" * 7 + b"\2\2" + b"\0" * 6 + b"\2\4hi" + b"\0\0" + b"\0" + b"\0",
    "Protobuf": bytes.fromhex("080112026869 1a050a01611200 2201ff 2a0c0a016b11000000000000f03f 320308ac02"),
    "JSON Schema": b'{"id":1,"note":"hi","tags":["a"],"raw":"/w==","price":"AQ==","more":{"k":1.5},'
    b'"either":[1]}',
}  # fmt: skip
EXTREMES = (
    b"", b"\0", b"\xff", b"\xff" * 30, b"\x80" * 30, b"\xff" * LONG, b"\0" * LONG, b"\2" * LONG, b"\4" * LONG,
    HUGE, HUGE * 5, HUGE + b"\0" * 20, b"\x01" * 40, b"[" * LONG, b'{"id":' * LONG,
    b'{"id":' + b"9" * LONG + b"}", b'{"id":1e999999999}', b'{"price":"' + b"f" * LONG + b'"}',
    b'{"either":' + b"[" * 900 + b"]" * 900 + b"}", b'{"id":123456789012345678901234567890,"x":'
    + b"[" * 600 + b"]" * 600 + b"}", b"\xff\xfe", b'{"note":"\\ud800"}', b"\x0b" * LONG, b"\x0a\x7f" * 1000,
    b"\x1a\x02\x0a\x00" * 10_000, b"\x22\xff\xff\xff\xff\x0f",
    # A timestamp, a date and a decimal that no calendar and no machine has.
    b"\x32\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x3a\x06\x08\xff\x7f\x10\x63\x18\x63",
    b"\x42\x02\x08\x63", b"\x4a\x08\x0a\x01\x01\x18\xff\xff\xff\x7f",
)  # fmt: skip


def read_or_refused(decode: Decode, data: bytes) -> ConnectValue:
    with suppress(DataError):
        return decode(data)
    return None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("items", NO_BYTES)
@pytest.mark.parametrize("count", [HUGE, bytes([0x81] + [0x80] * 4 + [0x40, 0x02])], ids=["count", "block"])
def test_an_avro_array_of_items_without_bytes_cannot_claim_a_trillion(
    items: str, place: str, count: bytes
) -> None:
    decode = avro(PLACES[place](NO_BYTES[items]))
    with pytest.raises(DataError, match=f"more than {MAX_ITEMS_WITHOUT_BYTES} items that take no bytes"):
        decode(BEFORE[place] + count + b"\0\0\0")


def test_an_avro_array_of_nulls_that_the_latest_schema_leaves_out_is_bounded_too() -> None:
    nulls = {"name": "n", "type": {"type": "array", "items": "null"}}
    old = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}, nulls]}
    new = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}
    texts = [SchemaText(json.dumps(each)) for each in (old, new)]
    decode = AvroFormat(AvroOptions.parse({})).decoder(texts[0], texts[1], None)[1]
    assert str(decode(b"\2\6\0")) == "Struct{id=1}"
    with pytest.raises(DataError, match="items that take no bytes"):
        decode(b"\2" + HUGE + b"\0")


def test_many_small_avro_arrays_of_items_without_bytes_are_counted_together() -> None:
    decode = avro({"type": "array", "items": {"type": "array", "items": EMPTY}})
    inner = b"\xa0\x1f\0"  # 2000 items
    assert len(decode(b"\x14" + inner * 10 + b"\0")) == 10
    with pytest.raises(DataError, match="items that take no bytes"):
        decode(b"\xc8\1" + inner * 100 + b"\0")


def test_a_few_records_without_fields_are_read() -> None:
    assert len(avro({"type": "array", "items": EMPTY})(b"\xd0\x0f\0")) == 1000


def test_an_avro_record_that_never_ends_is_refused_by_its_schema() -> None:
    endless = {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
    with pytest.raises(DataError, match="The Avro record E always holds itself"):
        avro(endless)


def nested_without_schema(levels: int) -> bytes:
    return (b"\0" * 7 + b"\2\2") * levels + b"\0" * 9 + b"\0\0" * levels


def test_avro_without_schema_is_read_as_deep_as_it_may_nest() -> None:
    decode = FORMATS["Avro without schema"]
    found = decode(nested_without_schema(MAX_SELF_NESTING - 1))
    for _ in range(MAX_SELF_NESTING - 1):
        (found,) = found
    assert found is None
    with pytest.raises(DataError, match=f"nested deeper than {MAX_SELF_NESTING}"):
        decode(nested_without_schema(MAX_SELF_NESTING + 1))


def test_avro_nested_deep_does_not_end_the_process() -> None:
    """In a process of its own: read by recursion in C, this ends it with a segmentation fault."""
    program = (
        "from tests.unit.plugins.registry.test_bad_data import *\n"
        "try:\n    FORMATS['Avro without schema'](nested_without_schema(100_000))\n"
        "except DataError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "nested deeper than" in done.stdout, done


def test_values_without_schema_that_nest_deep_are_refused_not_written_by_avro() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DataError, match="Failed to serialize Avro data"):
        AvroFormat(AvroOptions.parse({})).encoder(None, None)(value)


@pytest.mark.parametrize("name", FORMATS)
def test_registry_payloads_cut_short_are_read_or_refused(name: str) -> None:
    whole = WHOLE[name]
    assert FORMATS[name](whole) is not None
    for end in range(len(whole)):
        read_or_refused(FORMATS[name], whole[:end])


@pytest.mark.parametrize("name", FORMATS)
def test_registry_payloads_with_any_byte_changed_are_read_or_refused(name: str) -> None:
    whole = WHOLE[name]
    for place in range(len(whole)):
        for byte in (0, 1, 2, 0x7F, 0x80, 0xFF):
            read_or_refused(FORMATS[name], whole[:place] + bytes([byte]) + whole[place + 1 :])


@pytest.mark.parametrize("name", FORMATS)
def test_registry_payloads_of_any_bytes_are_read_or_refused(name: str) -> None:
    decode = FORMATS[name]

    @given(st.binary(max_size=60))
    def attempt(data: bytes) -> None:
        read_or_refused(decode, data)

    attempt()


@pytest.mark.parametrize("name", FORMATS)
def test_registry_payloads_of_extremes_are_read_or_refused_in_little_memory(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in EXTREMES:
        read_or_refused(FORMATS[name], data)
    grown_kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kilobytes < 200_000


@pytest.mark.parametrize(
    "head",
    [b"", b"\x80", b"\xff" * 40, b"\1", b"\2", b"\2\x90\1", b"\2\1", b"\4\0\4", b"\4\0\1",
     b"\x80\1" + b"\0" * 63,
     b"\x82\1" + b"\0" * 65, HUGE, b"\2" + b"\x80" * 100_000 + b"\1", b"\x80" * 100_000 + b"\1"],
)  # fmt: skip
def test_message_indexes_that_lead_nowhere_are_refused(head: bytes) -> None:
    protobuf = ProtobufFormat(ProtobufOptions.parse({}))
    with pytest.raises(DataError):
        length = protobuf.head_length(head)
        protobuf.decoder(SchemaText(PROTO), None, None, head[:length])


def test_protobuf_that_nests_deep_is_refused() -> None:
    data = b""
    for _ in range(2000):
        length = len(data)
        varint = b""
        while length > 0x7F:
            varint += bytes([length & 0x7F | 0x80])
            length >>= 7
        data = b"\x1a" + varint + bytes([length]) + data
    read_or_refused(FORMATS["Protobuf"], data)


MADE_FORMATS: dict[str, Callable[[], SchemaFormat]] = {
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


@pytest.mark.parametrize("name", MADE_FORMATS)
def test_any_value_under_any_schema_is_written_or_refused_by_registry_converters(name: str) -> None:
    for schema in SCHEMAS:
        with suppress(DataError):
            encode = MADE_FORMATS[name]().encoder(schema, None)
            outer_encode = MADE_FORMATS[name]().encoder(raw_struct(schema, None)[0], None)
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
            for kind, written in ((schema, value), raw_struct(schema, value)):
                with suppress(DataError):
                    converter.from_connect("t", None, kind, written)
                with suppress(DataError):
                    converter.from_connect_batch("t", kind, [written, written])


def test_any_header_under_any_schema_is_written_or_refused() -> None:
    converter = SimpleHeaderConverter()
    for schema in SCHEMAS:
        for value in VALUES:
            for kind, written in ((schema, value), raw_struct(schema, value)):
                with suppress(DataError):
                    converter.from_connect_header("t", "h", kind, written)
