"""Data made to do harm, or against its schema: converters and transformations refuse it as bad data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from copycat_connect.data import (
    FLOAT32_SCHEMA,
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
)
from copycat_connect.data.logical import DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import CopycatError, DataError
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind
from copycat_plugins.transforms.typed import fit_to
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.unit.plugins.answers import KINDS, PLUGINS

#: Converters that need nothing but themselves, with and without schemas where they know of them.
SELF_CONTAINED = [
    (spec, config)
    for spec in PLUGINS.all()
    if spec.kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
    and not any(key.name == "schema.registry.url" for key in spec.config.keys.values())
    for config in ({}, {"schemas.enable": "false"})
]
NAMES = [
    f"{spec.class_name.rpartition('.')[2]}-{spec.kind.value}-{len(config)}" for spec, config in SELF_CONTAINED
]
LOGICAL = "org.apache.kafka.connect.data"
#: Generated for each converter; drawn once, since to draw them takes far longer than to convert them.
CASES = 300
DEEP = 20_000
LONG_LENGTH = 200_000


def envelope(schema: dict[str, Any], payload: Any) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}).encode()


EXTREMES = (
    b"[" * DEEP,
    b"[" * DEEP + b"]" * DEEP,
    b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    *(b"[" * depth + b"]" * depth for depth in (250, 400, 999)),
    *(b'{"schema":null,"payload":' + b"[" * depth + b"]" * depth + b"}" for depth in (250, 400, 990)),
    b'{"a":' * 600 + b"9" * 20 + b"}" * 600,
    b'{"schema":null,"payload":' + b'{"a":' * 600 + b"9" * 20 + b"}" * 601,
    b"9" * LONG_LENGTH,
    b"-" + b"9" * LONG_LENGTH,
    b"1e" + b"9" * 9,
    b"1e-" + b"9" * 9,
    b"0." + b"1" * LONG_LENGTH,
    b'"' + b"\\" * LONG_LENGTH + b'"',
    b'"\\ud800"',
    b"\xff" * LONG_LENGTH,
    b'{"schema":' * 200 + b"{}" + b"}" * 200,
    envelope({"type": "struct", "fields": None}, {}),
    envelope({"type": "int8"}, 10**400),
    envelope({"type": "bytes", "name": f"{LOGICAL}.Decimal"}, "AA=="),
    envelope({"type": "int64", "name": f"{LOGICAL}.Timestamp"}, 2**62),
    envelope({"type": "int32", "name": f"{LOGICAL}.Date"}, -(2**31)),
)  # fmt: skip
JSON_LIKE = st.text('{}[]",:\\ue+-.0123456789truefalsn schemapyloid', max_size=30).map(str.encode)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5),
    st.decimals(), st.dates(), st.times(), st.datetimes(timezones=st.just(UTC)), st.just(object()),
    st.sampled_from((Int8(1), Int16(2), Int32(3), Float32(0.5), 2**64, -(2**70), Decimal("1e999"), 1j)),
)  # fmt: skip
KEYS = st.text(max_size=3) | st.integers()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@cache
def texts() -> list[bytes]:
    return gathered(st.binary(max_size=40) | JSON_LIKE, CASES)


@cache
def values() -> list[Any]:
    return gathered(VALUES, CASES)


def made(spec: Any, config: dict[str, str]) -> Any:
    converter = spec.make()
    converter.configure(config)
    return converter


def reader(converter: Any) -> Callable[[bytes], Any]:
    if isinstance(converter, HeaderConverter):
        return lambda data: converter.to_connect_header("t", "h", data)
    return lambda data: converter.to_connect("t", None, data)


def writer(converter: Any) -> Callable[[Any], Any]:
    if isinstance(converter, HeaderConverter):
        return lambda value: converter.from_connect_header("t", "h", None, value)
    return lambda value: converter.from_connect("t", None, None, value)


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
def test_any_bytes_are_read_or_refused(spec: Any, config: dict[str, str]) -> None:
    read = reader(made(spec, config))
    for data in texts():
        with suppress(CopycatError):
            read(data)


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
def test_extremes_are_read_or_refused(spec: Any, config: dict[str, str]) -> None:
    converter = made(spec, config)
    read, write = reader(converter), writer(converter)
    for data in EXTREMES:
        with suppress(CopycatError):
            found = read(data)
            write(found.value)


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
@pytest.mark.parametrize("levels", [200, 300, 600, 5000])
def test_values_that_nest_deep_are_written_or_refused(spec: Any, config: dict[str, str], levels: int) -> None:
    converter = made(spec, config)
    write = writer(converter)
    lists: Any = 1.0
    maps: Any = 2**70
    for _ in range(levels):
        lists, maps = [lists], {"\ud800": maps}
    for value in (lists, maps):
        with suppress(CopycatError):
            write(value)
        if isinstance(converter, Converter):
            with suppress(CopycatError):
                converter.from_connect_batch("t", None, [value])


@pytest.mark.parametrize(("spec", "config"), SELF_CONTAINED, ids=NAMES)
def test_any_value_is_written_or_refused(spec: Any, config: dict[str, str]) -> None:
    write = writer(made(spec, config))
    for value in values():
        with suppress(CopycatError):
            assert isinstance(write(value), bytes | None)


PACKAGE = "org.apache.kafka.connect.transforms"
SHORTER = SchemaBuilder.struct().field("b", STRING_SCHEMA).build()
LONGER = SchemaBuilder.struct().field("a", INT32_SCHEMA).field("b", STRING_SCHEMA).build()
SWAPPED = SchemaBuilder.struct().field("b", STRING_SCHEMA).field("a", INT32_SCHEMA).build()
OF_SHORT = Struct(SHORTER, {"b": "x"})
OF_LONG = Struct(LONGER, {"a": 1, "b": "x"})
OF_SWAPPED = Struct(SWAPPED, {"b": "x", "a": 1})
AS_IT_IS = {"replace.null.with.default": "false"}


def plugin(name: str, config: Mapping[str, str]) -> ConnectValue:
    made = PLUGINS.find(f"{PACKAGE}.{name}", KINDS).make()
    made.configure(config)
    return made


def record(schema: Schema, value: ConnectValue) -> SinkRecord:
    return SinkRecord("t", 0, 0, None, value, None, schema)


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("Cast$Value", {"spec": "b:int32"}, "Value \\(x\\) was out of range"),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}, "A null value requires"),
        ("HeaderFrom$Value", {"fields": "b", "headers": "h", "operation": "move"}, "a is not a valid field"),
        ("SetSchemaMetadata$Value", {"schema.name": "n"}, "class java.lang.String for field"),
        ("SetSchemaMetadata$Value", {"schema.name": "n"} | AS_IT_IS, "a is not a valid field name"),
        ("ValueToKey", {"fields": "a"}, "Field does not exist: a"),
    ],
)
def test_a_struct_of_a_shorter_schema_is_a_bad_record(name: str, config: dict[str, str], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        plugin(name, config).apply(record(LONGER, OF_SHORT))


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("Cast$Value", {"spec": "b:string"}, "field cannot be null"),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}, "a is not a valid field"),
        (
            "TimestampConverter$Value",
            {"field": "n", "target.type": "string", "format": "yyyy"},
            "a is not a valid field name",
        ),
        ("HoistField$Value", {"field": "f"}, "Struct schemas do not match"),
        ("ExtractField$Value", {"field": "a"}, "Unknown field: a"),
    ],
)
def test_a_struct_of_a_longer_schema_is_a_bad_record(name: str, config: dict[str, str], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        plugin(name, config).apply(record(SHORTER, OF_LONG))


@pytest.mark.parametrize(
    ("name", "config", "text"),
    [
        ("InsertField$Value", {"static.field": "s", "static.value": "y"}, "Struct{b=x,s=y}"),
        ("MaskField$Value", {"fields": "a,b"}, "Struct{b=}"),
        ("ReplaceField$Value", {"renames": "b:c"}, "Struct{c=x}"),
        ("Flatten$Value", {}, "Struct{b=x}"),
    ],
)
def test_what_works_on_a_structs_own_schema_does_not_look_at_its_records(
    name: str, config: dict[str, str], text: str
) -> None:
    assert str(plugin(name, config).apply(record(LONGER, OF_SHORT)).value) == text


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("Cast$Value", {"spec": "a:string"}),
        ("InsertField$Value", {"static.field": "s", "static.value": "y"}),
        ("MaskField$Value", {"fields": "a"}),
        ("ReplaceField$Value", {"exclude": "a"}),
    ],
)
def test_fields_of_another_schema_are_not_taken_by_their_places_in_a_batch(
    name: str, config: dict[str, str]
) -> None:
    assert plugin(name, config).apply_to_values(LONGER, [OF_LONG, OF_SWAPPED]) is None


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("Cast$Value", {"spec": "a:string"}),
        ("Flatten$Value", {}),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}),
        ("InsertField$Value", {"static.field": "s", "static.value": "y"}),
        ("MaskField$Value", {"fields": "a"}),
        ("ReplaceField$Value", {"exclude": "a"}),
        ("ExtractField$Value", {"field": "a"}),
        ("ValueToKey", {"fields": "a"}),
        ("TimestampConverter$Value", {"field": "a", "target.type": "unix"}),
    ],
)
@pytest.mark.parametrize("value", ["x", 5, [1], {"a": 1}, b"x"])
def test_what_is_no_struct_is_a_bad_record_where_the_schema_says_struct(
    name: str, config: dict[str, str], value: ConnectValue
) -> None:
    with pytest.raises(DataError, match="Only Struct objects supported"):
        plugin(name, config).apply(record(LONGER, value))


@pytest.mark.parametrize("schema", [DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA])
@pytest.mark.parametrize("value", ["x", 5, {}, OF_LONG])
def test_a_cast_of_what_is_no_point_in_time_is_refused(schema: Schema, value: ConnectValue) -> None:
    with pytest.raises(DataError, match=r"Invalid Java object for schema .* for what is cast"):
        plugin("Cast$Value", {"spec": "int64"}).apply(record(schema, value))


def test_a_cast_to_text_takes_what_is_no_float_as_it_is() -> None:
    cast = plugin("Cast$Value", {"spec": "string"})
    assert cast.apply(record(FLOAT32_SCHEMA, [1, None])).value == "[1, null]"


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("DropHeaders", {"headers": "h"}),
        ("InsertHeader", {"header": "h", "value.literal": "1"}),
        ("RegexRouter", {"regex": "t", "replacement": "u"}),
        ("predicates.HasHeaderKey", {"name": "h"}),
        ("predicates.RecordIsTombstone", {}),
        ("predicates.TopicNameMatches", {"pattern": "t"}),
    ],
)
def test_what_does_not_touch_the_value_does_not_look_at_it(name: str, config: dict[str, str]) -> None:
    made, odd = plugin(name, config), record(LONGER, date(2026, 1, 2))
    result = made.test(odd) if hasattr(made, "test") else made.apply(odd)
    assert result is (name.endswith("Matches")) if hasattr(made, "test") else result.value is odd.value


def test_a_number_too_large_for_a_declared_float_is_a_bad_record() -> None:
    schema = SchemaBuilder.struct().field("f", FLOAT32_SCHEMA).build()
    with pytest.raises(DataError, match="f is too large for a floating-point number"):
        fit_to(schema)({"f": 10**400})


def test_a_struct_refuses_fields_that_are_not_its_own() -> None:
    struct, foreign = Struct(SHORTER), LONGER.fields[1]
    with pytest.raises(DataError, match="field cannot be null"):
        struct.put(None, 1)
    with pytest.raises(
        DataError, match='"b" is of another schema: it has place 1 there, and this struct has 1'
    ):
        struct.put(foreign, "x")
    with pytest.raises(DataError, match='"b" is of another schema'):
        struct.get(foreign)


def test_a_header_that_contradicts_its_schema_is_refused_in_javas_words() -> None:
    with pytest.raises(DataError, match=r"The value \[1, null\] is not compatible with the schema"):
        record(LONGER, OF_LONG).headers.add("h", [1, None], LONGER)
