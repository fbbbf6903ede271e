"""The converters of text, bytes, numbers and booleans."""

from __future__ import annotations

import pytest
from copycat_connect.data import (
    INT32_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    SchemaAndValue,
    Texts,
)
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import Converter, PluginKind, load_plugins
from copycat_plugins.converters.boolean import BooleanConverter
from copycat_plugins.converters.byte_array import ByteArrayConverter
from copycat_plugins.converters.string import StringConverter
from hypothesis import given
from hypothesis import strategies as st

PLUGINS = load_plugins()


def converter(name: str) -> Converter:
    made: Converter = PLUGINS.find(name, (PluginKind.CONVERTER,)).make()
    made.configure({})
    return made


def test_text_comes_back_with_an_optional_schema() -> None:
    assert converter("String").to_connect("t", None, b"\xc3\xa9") == SchemaAndValue(
        OPTIONAL_STRING_SCHEMA, "é"
    )
    assert converter("String").to_connect("t", None, None) == SchemaAndValue(OPTIONAL_STRING_SCHEMA, None)


@given(st.lists(st.one_of(st.none(), st.binary(max_size=8)), max_size=5))
def test_a_batch_of_text_reads_like_its_records(datas: list[bytes | None]) -> None:
    strings = StringConverter()
    schema, values = strings.to_connect_batch("t", datas)
    assert [SchemaAndValue(schema, value) for value in values] == [
        strings.to_connect("t", None, data) for data in datas
    ]


@given(st.lists(st.one_of(st.none(), st.text(max_size=8), st.integers(), st.booleans()), max_size=5))
def test_a_batch_of_text_writes_like_its_records(values: list[object]) -> None:
    strings = StringConverter()
    assert strings.from_connect_batch("t", None, values) == [
        strings.from_connect("t", None, None, value) for value in values
    ]


def test_encoded_text_is_handed_through_untouched() -> None:
    encoded = [b"a", b"b"]
    assert StringConverter().from_connect_batch("t", STRING_SCHEMA, encoded, utf8=True) is encoded


def test_another_character_set_can_be_chosen() -> None:
    strings = StringConverter()
    strings.configure({"converter.encoding": "ISO-8859-1"})
    assert strings.from_connect("t", None, None, "é") == b"\xe9"
    assert strings.from_connect_batch("t", STRING_SCHEMA, [b"\xc3\xa9"], utf8=True) == [b"\xe9"]
    assert strings.to_connect("t", None, b"\xe9").value == "é"


@pytest.mark.parametrize("datas", [[b"a", b"b"], [b"a", "é".encode()], [b"a", None], [b"\xff", b"a"], []])
def test_texts_are_left_as_they_came_where_that_is_sure(datas: list[bytes | None]) -> None:
    _, values = StringConverter().to_connect_batch("t", datas)
    assert isinstance(values, Texts) is all(data is not None and data.isascii() for data in datas)


def test_an_unknown_character_set_is_refused() -> None:
    with pytest.raises(ConfigError, match="Invalid value nope for configuration"):
        StringConverter().configure({"converter.encoding": "nope"})


def test_bytes_pass_as_they_are() -> None:
    raw = converter("ByteArray")
    assert raw.to_connect("t", None, b"\xff") == SchemaAndValue(OPTIONAL_BYTES_SCHEMA, b"\xff")
    assert raw.from_connect("t", None, OPTIONAL_BYTES_SCHEMA, bytearray(b"\xff")) == b"\xff"
    assert raw.to_connect_batch("t", [b"a", None]) == (OPTIONAL_BYTES_SCHEMA, [b"a", None])


def test_what_is_no_bytes_is_refused() -> None:
    with pytest.raises(DataError, match="Invalid schema type for ByteArrayConverter: INT32"):
        ByteArrayConverter().from_connect("t", None, INT32_SCHEMA, 1)
    with pytest.raises(DataError, match=r"not compatible with objects of type class java\.lang\.String"):
        ByteArrayConverter().from_connect("t", None, None, "a")


@pytest.mark.parametrize(
    ("name", "value", "encoded"),
    [
        ("Short", -2, "fffe"),
        ("Integer", 1, "00000001"),
        ("Long", 2**40, "0000010000000000"),
        ("Float", 1.5, "3fc00000"),
        ("Double", 1.5, "3ff8000000000000"),
        ("Boolean", True, "01"),
        ("Boolean", False, "00"),
    ],
)
def test_numbers_and_booleans_have_fixed_bytes(name: str, value: object, encoded: str) -> None:
    assert converter(name).from_connect("t", None, None, value) == bytes.fromhex(encoded)
    found = converter(name).to_connect("t", None, bytes.fromhex(encoded))
    assert (found.value, found.schema is not None and found.schema.optional) == (value, True)


@pytest.mark.parametrize("name", ["Short", "Integer", "Long", "Float", "Double", "Boolean"])
def test_null_stays_null(name: str) -> None:
    assert converter(name).from_connect("t", None, None, None) is None
    assert converter(name).to_connect("t", None, None).value is None


@pytest.mark.parametrize(
    ("name", "data", "cause"),
    [
        ("Integer", b"\0", "Size of data received by IntegerDeserializer is not 4"),
        ("Double", b"\0", "Size of data received by Deserializer is not 8"),
        ("Boolean", b"", "Size of data received by BooleanDeserializer is not 1"),
        ("Boolean", b"\x82", "Unexpected byte received by BooleanDeserializer: -126"),
    ],
)
def test_a_refusal_of_bytes_tells_its_cause_apart_as_kafka_connect_does(
    name: str, data: bytes, cause: str
) -> None:
    with pytest.raises(DataError) as refused:
        converter(name).to_connect("t", None, data)
    assert refused.value.message == f"Failed to deserialize {name.lower()}: "
    assert str(refused.value.__cause__) == cause


def test_a_number_whose_schema_is_of_another_width_is_refused() -> None:
    with pytest.raises(DataError, match=r"^Failed to serialize to long \(was class java\.lang\.Integer\): $"):
        converter("Long").from_connect("t", None, INT32_SCHEMA, 1)


@pytest.mark.parametrize(
    ("name", "value"), [("Integer", 2**31), ("Integer", "1"), ("Integer", True), ("Double", 1)]
)
def test_numbers_of_another_type_are_refused(name: str, value: object) -> None:
    with pytest.raises(DataError, match=f"Failed to serialize to {name.lower()} "):
        converter(name).from_connect("t", None, None, value)


def test_a_boolean_refuses_other_schemas_and_values() -> None:
    with pytest.raises(DataError, match="Invalid schema type for BooleanConverter: INT32"):
        BooleanConverter().from_connect("t", None, OPTIONAL_INT32_SCHEMA, None)
    with pytest.raises(DataError, match="BooleanConverter is not compatible"):
        BooleanConverter().from_connect("t", None, None, 1)
