"""JsonConverter: the recorded answers of Kafka Connect 4.3.1, and round trips."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import (
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    MapColumns,
    Schema,
    SchemaAndValue,
    SchemaBuilder,
    SchemaType,
    Struct,
    decimal_schema,
)
from copycat_connect.data.narrow import Int32
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter
from copycat_json.shapes import ShapeReader
from hypothesis import given
from hypothesis import strategies as st

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "recorded" / "json_converter.jsonl").read_text("utf-8").split("\n")
    if line
]


def converter(**config: str) -> JsonConverter:
    made = JsonConverter()
    made.configure({key.replace("_", "."): value for key, value in config.items()})
    return made


def configured(config: dict[str, str]) -> JsonConverter:
    made = JsonConverter()
    made.configure(config)
    return made


PLAIN = converter(schemas_enable="false")


def batch_of(datas: Sequence[bytes | None]) -> list[ConnectValue]:
    decoded = PLAIN.to_connect_batch("t", datas)
    assert decoded is not None
    assert decoded[0] is None
    return [*decoded[1]]


@pytest.mark.parametrize("case", RECORDED, ids=range(len(RECORDED)))
def test_what_kafka_connect_was_recorded_to_do(case: dict[str, Any]) -> None:
    answer: dict[str, str | None] = {}
    try:
        found = configured(case["read"]).to_connect("t", None, case["data"].encode())
        try:
            encoded = configured(case["write"]).from_connect("t", None, found.schema, found.value)
            answer["out"] = None if encoded is None else encoded.decode()
        except DataError as error:
            answer["write_error"] = error.message
    except DataError as error:
        answer["read_error"] = error.message
    assert answer == {key: case[key] for key in ("out", "read_error", "write_error") if key in case}


JSON_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3),
    ),
    max_leaves=8,
)


@pytest.mark.row("K26-07", "K26-14")
@given(JSON_VALUES)
def test_a_schemaless_value_survives(value: ConnectValue) -> None:
    encoded = PLAIN.from_connect("t", None, None, value)
    assert PLAIN.to_connect("t", None, encoded) == SchemaAndValue(None, value)


@given(st.lists(JSON_VALUES, max_size=5))
def test_a_batch_writes_and_reads_like_its_records(values: list[ConnectValue]) -> None:
    encoded = PLAIN.from_connect_batch("t", None, values)
    assert encoded == [PLAIN.from_connect("t", None, None, value) for value in values]
    assert batch_of(encoded) == values


#: What a reader of columns could get wrong: numbers at the bounds, signs of zero, fields that come and go.
_EDGES = st.sampled_from((
    "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551616", "1e400", "1.5", "-0", "-0.0", "0.0", "0", "1e2", "9223372036854775808.0", "true",
    "null", '"1234567890123456789"', '"-0"', "[18446744073709551615]", '{"c":-0.0}', "007",
))  # fmt: skip
_TEXTS = st.one_of(
    _EDGES,
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(max_size=3).map(json.dumps),
    st.sampled_from((
        '"\x01"', '"\\ud800"', '"\\ud83d\\ude00"', "01", "1.", "nul", '"\\x"', '""', "[]", " 1 ",
    )),
)  # fmt: skip
_OBJECTS = st.lists(st.tuples(st.sampled_from("ab"), _TEXTS), max_size=3).map(
    lambda pairs: ("{" + ",".join(f'"{name}":{text}' for name, text in pairs) + "}").encode()
)


_ALIKE = st.lists(
    st.tuples(_TEXTS, _TEXTS).map(lambda each: f'{{"a":{each[0]},"b":{each[1]}}}'.encode()), min_size=1
)
_WHOLE = st.sampled_from((
    b"", b" ", b"null", b'{"a":1,"b":2} {"a":3}', b'\n{"b":1,\n"a":2}', b'{"a":"\xff","b":1}',
))  # fmt: skip


@given(st.one_of(st.lists(_OBJECTS | _WHOLE, min_size=1, max_size=4), _ALIKE))
def test_a_batch_of_objects_holds_what_they_hold_alone(datas: list[bytes]) -> None:
    def read() -> list[ConnectValue]:
        return [PLAIN.to_connect("t", None, data).value for data in datas]

    try:
        expected = read()
    except DataError:
        with pytest.raises(DataError):
            PLAIN.to_connect_batch("t", datas)
        return
    found = batch_of(datas)
    assert found == expected
    assert repr([*map(_in_order, found)]) == repr([*map(_in_order, expected)])


def _in_order(value: ConnectValue) -> object:
    """Return a map's entries in an order of their own: its own means nothing, as in Java."""
    return sorted(value.items()) if isinstance(value, dict) else value


@pytest.mark.parametrize(("datas", "columns"), [
    ([b'{"a":1,"b":"x"}', b'{"b":null,"a":2}'], {"a": (1, 2), "b": ("x", None)}),
    ([b'{"a":1.5,"b":null}', b'{"a":2,"b":true}'], {"a": (1.5, 2), "b": (None, True)}),
    ([b'{"a":1,"b":"x"}', b'{"a":"1","b":"x"}'], None),
    ([b'{"a":1,"b":"x"}', b'{"a":1}'], None),
    ([b'{"a":1,"b":"x"}', b'{"a":1,"b":"x","c":0}'], None),
    ([b'{"a":1,"b":"x"}', b'{"a":9223372036854775808,"b":"x"}'], None),
    ([b'{"a":1.5,"b":"x"}', b'{"a":-0.0,"b":"x"}'], None),
    ([b'{"a":1,"b":[]}'], None),
    ([b'{"a":1}', b'{"a":2}'], {"a": (1, 2)}),
    ([b"{}"], None),
    ([b"7"], None),
    ([b"{"], None),
    ([], None),
])  # fmt: skip
def test_what_is_of_one_shape_is_read_without_maps(
    datas: list[bytes], columns: dict[str, tuple[ConnectValue, ...]] | None
) -> None:
    read = ShapeReader().read(datas)
    assert (None if read is None else read.columns) == columns


def test_a_reader_of_shapes_that_finds_none_gives_up() -> None:
    reader = ShapeReader()
    alike, other = [b'{"a":1,"b":2}'] * 2, [b'{"a":1,"b":2}', b"7"]
    assert [reader.read(other) for _ in range(7)] == [None] * 7
    assert reader.read(alike) is not None
    assert [reader.read(other) for _ in range(8)] == [None] * 8
    assert reader.read(alike) is None


def test_objects_with_the_same_keys_are_columns() -> None:
    decoded = PLAIN.to_connect_batch("t", [b'{"a":1,"b":"x"}', b'{"a":null,"b":2.5}'])
    assert decoded is not None
    assert isinstance(decoded[1], MapColumns)
    assert decoded[1].columns == {"a": (1, None), "b": ("x", 2.5)}


@pytest.mark.row("K26-14")
@given(
    st.integers(-(2**31), 2**31 - 1),
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
)
def test_a_struct_survives_with_its_schema(
    number: int, text: str | None, float_: float, amount: Decimal
) -> None:
    schema = (
        SchemaBuilder.struct()
        .name("Order")
        .version(2)
        .field("id", INT32_SCHEMA)
        .field("note", OPTIONAL_STRING_SCHEMA)
        .field("weight", FLOAT64_SCHEMA)
        .field("amount", decimal_schema(2))
        .field("tags", SchemaBuilder.map(STRING_SCHEMA, SchemaBuilder.array(INT64_SCHEMA).build()).build())
        .build()
    )
    struct = Struct(
        schema, {"id": number, "note": text, "weight": float_, "amount": amount, "tags": {"a": [1, number]}}
    )
    envelopes = converter()
    for _ in range(2):  # the second time the schema is known
        encoded = envelopes.from_connect("t", None, schema, struct)
        assert envelopes.to_connect("t", None, encoded) == SchemaAndValue(schema, struct)


def test_the_envelope_has_kafka_connects_key_order() -> None:
    schema = (
        SchemaBuilder.struct()
        .name("x.Y")
        .field("id", INT32_SCHEMA)
        .field("n", OPTIONAL_STRING_SCHEMA)
        .build()
    )
    assert converter().from_connect("t", None, schema, Struct(schema, {"id": 1})) == (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},'
        b'{"type":"string","optional":true,"field":"n"}],"optional":false,"name":"x.Y"},'
        b'"payload":{"id":1,"n":null}}'
    )


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (FLOAT32_SCHEMA, 0.1, "0.1"),
        (FLOAT64_SCHEMA, 1e10, "1.0E10"),
        (FLOAT64_SCHEMA, math.nan, '"NaN"'),
        (None, -math.inf, '"-Infinity"'),
        (None, {"a": [1e-5, 2.5]}, '{"a":[1.0E-5,2.5]}'),
        (None, {1: 2}, "[[1,2]]"),
        (None, b"\xff\x00", '"/wA="'),
        (None, "\x0b/é😀", '"\\u000B/é\\uD83D\\uDE00"'),
        (None, "\ud800", '"\\uD800"'),
        (DATE_SCHEMA, datetime(1970, 1, 11, tzinfo=UTC).date(), "10"),
        (TIMESTAMP_SCHEMA, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "1000"),
        (OPTIONAL_STRING_SCHEMA, None, "null"),
        (SchemaBuilder(SchemaType.INT32).default_value(7).build(), None, "7"),
    ],
)
def test_values_are_written_as_jackson_writes_them(
    schema: Schema | None, value: ConnectValue, text: str
) -> None:
    assert PLAIN.from_connect("t", None, schema, value) == text.encode()
    assert PLAIN.from_connect_batch("t", schema, [value]) == [text.encode()]


def test_decimals_are_written_as_bytes_or_as_numbers() -> None:
    schema = decimal_schema(2)
    assert PLAIN.from_connect("t", None, schema, Decimal("1.50")) == b'"AJY="'
    numbers = converter(schemas_enable="false", decimal_format="numeric")
    assert numbers.from_connect("t", None, schema, Decimal("1.50")) == b"1.50"


def test_null_without_a_schema_is_a_tombstone() -> None:
    assert PLAIN.from_connect("t", None, None, None) is None
    assert converter().from_connect_batch("t", None, [None, 1]) == [None, b'{"schema":null,"payload":1}']
    assert converter().to_connect("t", None, None) == SchemaAndValue(None, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            datetime(2024, 1, 1, tzinfo=UTC),
            "Java class class java.util.Date does not have corresponding schema type.",
        ),
        ({"a": Decimal(1)}, "Java class class java.math.BigDecimal does not have corresponding schema type."),
        (2**63, "Java class class java.math.BigInteger does not have corresponding schema type."),
    ],
)
def test_what_has_no_schemaless_form_is_refused(value: ConnectValue, text: str) -> None:
    with pytest.raises(DataError) as refused:
        PLAIN.from_connect("t", None, None, value)
    assert refused.value.message == text


def test_a_required_null_without_default_is_refused() -> None:
    with pytest.raises(DataError, match="null value for field that is required and has no default value"):
        PLAIN.from_connect("t", None, INT32_SCHEMA, None)


@pytest.mark.parametrize(
    "data", [b'{"a":1}', b'{"schema":null}', b'{"schema":null,"payload":1,"x":2}', b"1", b""]
)
def test_what_is_no_envelope_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match='requires "schema" and "payload" fields'):
        converter().to_connect("t", None, data)


def test_a_known_schema_does_not_let_a_broken_envelope_pass() -> None:
    envelopes = converter()
    good = b'{"schema":{"type":"int32","optional":false},"payload":12}'
    assert envelopes.to_connect("t", None, good).value == 12
    with pytest.raises(DataError):
        envelopes.to_connect("t", None, good[:-1])
    with pytest.raises(DataError):
        envelopes.to_connect("t", None, good[:-1] + b',"x":1}')


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"007", 7),
        (b"18446744073709551615", -1),
        (b"[-0.0]", [0.0]),
        (b'{"a":1} trailing', {"a": 1}),
        (b'{"a":1,"a":2}', {"a": 2}),
        ("[1]".encode("utf-16"), [1]),
        ("\ufeff[1]".encode(), [1]),
        (b"  ", None),
        (b"null", None),
    ],
)
def test_jackson_s_leniency_is_ours(data: bytes, value: ConnectValue) -> None:
    assert PLAIN.to_connect("t", None, data).value == value
    assert batch_of([data]) == [value]


@pytest.mark.parametrize("data", [b"NaN", b"'a'", b"[1,]", b"0x10", b"1.", b"\xff", b"{", b"truex"])
def test_what_jackson_refuses_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="Converting byte"):
        PLAIN.to_connect("t", None, data)


def test_a_fixed_schema_reads_payloads_without_envelope() -> None:
    fixed = converter(schema_content='{"type":"int32"}')
    assert fixed.to_connect("t", None, b"5") == SchemaAndValue(INT32_SCHEMA, 5)


def test_an_integer_of_a_narrow_class_is_written_beside_one_of_nineteen_digits() -> None:
    value: ConnectValue = {"partition": Int32(3), "id": 2**63 - 1}
    assert PLAIN.from_connect("t", None, None, value) == b'{"partition":3,"id":9223372036854775807}'


@pytest.mark.timeout(60)
def test_a_megabyte_that_is_no_json_is_refused_at_once() -> None:
    with pytest.raises(DataError):
        PLAIN.to_connect("t", None, b'"' + b'\\"' * 500_000)


@pytest.mark.parametrize("schemas", ["true", "false"])
def test_a_struct_with_a_default_is_written(schemas: str) -> None:
    inner = SchemaBuilder.struct().name("Point").field("x", INT32_SCHEMA)
    point = inner.default_value(Struct(inner.build(), {"x": 1})).build()
    whole = SchemaBuilder.struct().field("at", point).build()
    converter = JsonConverter()
    converter.configure({"schemas.enable": schemas}, is_key=False)

    for value, x in ((Struct(whole, {"at": Struct(point, {"x": 5})}), 5), (Struct(whole), 1)):
        written = converter.from_connect("t", None, whole, value)
        assert written is not None
        found = json.loads(written)
        assert (found["payload"] if schemas == "true" else found) == {"at": {"x": x}}
        if schemas == "true":
            assert found["schema"]["fields"][0]["default"] == {"x": 1}
