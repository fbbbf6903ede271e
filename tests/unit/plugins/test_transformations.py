"""Transformations and predicates: recorded answers of Kafka Connect 4.3.1, odd settings, 32-bit floats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import (
    FLOAT32_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Header,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    SourceRecord,
    Struct,
)
from copycat_connect.data.java import round_to_float32, to_text
from copycat_connect.data.java_lines import to_lines
from copycat_connect.data.narrow import Float32, Int8
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_connect.plugin import PluginKind, Transformation
from copycat_connect.values.text import value_to_text

from tests.unit.plugins.answers import (
    KINDS,
    PLUGINS,
    answer_to,
    described,
    parsed,
    record_of,
)

PACKAGE = "org.apache.kafka.connect.transforms"
RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "recorded" / "transformations.jsonl").read_text("utf-8").split("\n")
    if line
]


def transformation(name: str, **config: str) -> Transformation:
    made: Transformation = PLUGINS.find(f"{PACKAGE}.{name}", KINDS).make()
    made.configure({key.replace("_", "."): value for key, value in config.items()})
    return made


@pytest.mark.parametrize("case", RECORDED, ids=[case["class"].rpartition(".")[2] for case in RECORDED])
def test_what_kafka_connect_was_recorded_to_do(case: dict[str, Any]) -> None:
    expected = case["answer"]
    for part in ("key", "value"):
        if part in expected:
            expected[part] = parsed(expected[part])
    if "headers" in expected:
        expected["headers"] = [[name, parsed(text)] for name, text in expected["headers"]]
    answer = answer_to(case)
    if "No value specified for static field" in answer.get("error", ""):
        # Java names an object's address there.
        expected["error"] = answer["error"]
    assert answer == expected


@pytest.mark.parametrize("case", [case for case in RECORDED if "topic" in case["answer"]])
def test_in_place_gives_the_same_and_spares_the_original(case: dict[str, Any]) -> None:
    made: Transformation = PLUGINS.find(case["class"], KINDS).make()
    made.configure(case["config"])
    original, untouched = record_of(case), repr(record_of(case))
    result = made.apply_in_place(original.private())
    assert result is not None
    assert described(result) == answer_to(case)
    assert repr(original) == untouched


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("InsertField$Value", {"static_field": "s", "static_value": "x"}),
        ("MaskField$Value", {"fields": "a"}),
        ("ReplaceField$Value", {"renames": "a:b"}),
        ("Cast$Value", {"spec": "a:string"}),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "move"}),
        ("InsertHeader", {"header": "h", "value_literal": "1"}),
        ("RegexRouter", {"regex": "t", "replacement": "u"}),
        ("HoistField$Value", {"field": "x"}),
        ("Flatten$Value", {}),
    ],
)
def test_the_record_that_goes_in_stays_as_it_is(name: str, config: dict[str, str]) -> None:
    value = {"a": 1, "n": {"b": 2}}
    record = SinkRecord("t", 0, 5, "k", value, headers=[Header("h", 0)])
    result = transformation(name, **config).apply(record)
    assert (record.topic, record.value, len(record.headers)) == ("t", {"a": 1, "n": {"b": 2}}, 1)
    assert record.value is value
    assert result is not None
    assert (result.offset, result.original_topic) == (5, "t")


def test_a_source_record_has_no_kafka_offset_to_insert() -> None:
    with pytest.raises(DataError, match="Only SinkRecord supported for"):
        transformation("InsertField$Value", offset_field="o").apply(SourceRecord({}, {}, "t", {"a": 1}))


def test_a_schema_is_built_once_and_then_reused() -> None:
    schema = SchemaBuilder.struct().field("a", INT32_SCHEMA).build()
    masked = transformation("ReplaceField$Value", renames="a:b")
    records = [SinkRecord("t", 0, 0, None, Struct(schema, {"a": n}), None, schema) for n in range(2)]
    first, second = (masked.apply(record) for record in records)
    assert first is not None
    assert second is not None
    assert first.value_schema is second.value_schema


def test_a_source_record_keeps_where_it_comes_from() -> None:
    record = SourceRecord({"f": 1}, {"p": 2}, "t", "v")
    moved = transformation("RegexRouter", regex="(.*)", replacement="x-$1").apply(record)
    assert moved is not None
    assert (moved.topic, moved.source_partition, moved.source_offset) == ("x-t", {"f": 1}, {"p": 2})


FLOAT = round_to_float32(1.1)
FLOATS = SchemaBuilder.array(FLOAT32_SCHEMA).build()
BY_NAME = SchemaBuilder.map(STRING_SCHEMA, FLOAT32_SCHEMA).build()
NESTED = SchemaBuilder.struct().field("f", FLOAT32_SCHEMA).field("l", FLOATS).field("m", BY_NAME).build()
TEXTS = (
    (FLOAT32_SCHEMA, FLOAT, "1.1"),
    (FLOATS, [FLOAT, FLOAT], "[1.1, 1.1]"),
    (BY_NAME, {"a": FLOAT}, "{a=1.1}"),
    (
        NESTED,
        Struct(NESTED, {"f": FLOAT, "l": [FLOAT], "m": {"a": FLOAT}}),
        "Struct{f=1.1,l=[1.1],m={a=1.1}}",
    ),
    (None, [Float32(FLOAT)], "[1.1]"),
)


def apply(name: str, config: dict[str, str], payload: Any, topic: str = "orders") -> dict[str, Any]:
    value = None if payload is None else json.dumps({"schema": None, "payload": payload})
    case = {"class": f"{PACKAGE}.{name}", "config": config, "key": None, "value": value}
    return answer_to({**case, "topic": topic, "ts": 5, "headers": []})


@pytest.mark.parametrize(("schema", "value", "text"), TEXTS)
def test_a_float32_becomes_text_with_the_digits_of_32_bits(
    schema: Schema | None, value: ConnectValue, text: str
) -> None:
    string = PLUGINS.find("org.apache.kafka.connect.storage.StringConverter", (PluginKind.CONVERTER,)).make()
    string.configure({})
    record = SinkRecord("t", 0, 0, None, value, None, schema, headers=[Header("h", value, schema)])

    assert string.from_connect("t", None, schema, value) == text.encode()
    assert string.from_connect_batch("t", schema, [value]) == [text.encode()]
    assert to_lines([value], "\n", lambda: SinkBatch.of([record]).value_schemas) == text + "\n"
    assert f"value={text}, valueSchema" in str(record)
    assert f"ConnectHeader(key=h, value={text}," in str(record)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [(FLOATS, [FLOAT], "[1.1]"), (BY_NAME, {"a": FLOAT}, '{"a":1.1}'), (None, [Float32(FLOAT)], "[1.1]")],
)
def test_a_float32_in_a_header_is_written_with_the_digits_of_32_bits(
    schema: Schema | None, value: ConnectValue, text: str
) -> None:
    assert value_to_text(schema, value) == text


def test_a_schemaless_float32_that_is_cast_to_text_or_masked_stays_one() -> None:
    assert to_text({"a": Float32(FLOAT)}) == "{a=1.1}"
    mask = PLUGINS.find(f"{PACKAGE}.MaskField$Value", (PluginKind.TRANSFORMATION,)).make()
    mask.configure({"fields": "a,b", "replacement": "300.1"})
    record = SinkRecord("t", 0, 0, None, {"a": Float32(FLOAT), "b": Int8(1)})
    assert to_text(mask.apply(record).value) == "{a=300.1, b=44}"


@pytest.mark.parametrize(
    ("mapping", "renamed"), [("id:", None), (":", None), ("a:b:", {"b": 1}), (":x", {"a": 1})]
)
def test_renames_are_cut_at_colons_as_java_cuts_them(mapping: str, renamed: dict[str, int] | None) -> None:
    answer = apply("ReplaceField$Value", {"renames": mapping}, {"a": 1})
    if renamed is None:
        wanted = f"Invalid value [{mapping}] for configuration renames: Invalid rename mapping: {mapping}"
        assert answer == {"error": wanted}
    else:
        assert answer["value"]["payload"] == renamed


@pytest.mark.parametrize("spec", ["id:", ":", "a:b:c"])
def test_a_cast_without_a_type_is_refused(spec: str) -> None:
    cast = PLUGINS.find(f"{PACKAGE}.Cast$Value", (PluginKind.TRANSFORMATION,)).make()
    with pytest.raises(ConfigError):
        cast.configure({"spec": spec})


@pytest.mark.parametrize(
    ("replacement", "error"),
    [
        ("$", "Illegal group reference: group index is missing"),
        ("a\\", "character to be escaped is missing"),
        ("$x", "Illegal group reference"),
        ("$2", "No group 2"),
        ("${", "named capturing group has 0 length name"),
        ("${1}", "capturing group name {1} starts with digit character"),
        ("${x", "named capturing group is missing trailing '}'"),
        ("${x}", "No group with name {x}"),
    ],
)
def test_a_replacement_of_the_regex_router_that_java_refuses_fails_the_record(
    replacement: str, error: str
) -> None:
    assert apply("RegexRouter", {"regex": "(.*)", "replacement": replacement}, None) == {"error": error}
    assert apply("RegexRouter", {"regex": "other", "replacement": replacement}, None)["topic"] == "orders"


def test_a_replacement_of_the_regex_router_takes_groups_and_escapes() -> None:
    config = {"regex": "(?<a>.)(?<b>z)?.*", "replacement": "${a}${b}-$2$11\\a\\$"}
    assert apply("RegexRouter", config, None)["topic"] == "o-o1a$"


def test_an_empty_timestamp_format_of_the_timestamp_router_writes_nothing() -> None:
    assert apply("TimestampRouter", {"timestamp.format": ""}, None)["topic"] == "orders-"


def test_an_empty_path_of_extract_field_fails_and_does_not_give_null() -> None:
    config = {"field": "", "field.syntax.version": "V2"}
    wanted = {"error": "The path of ExtractField is empty: give the key field a name or a path"}
    assert apply("ExtractField$Value", config, {"a": 1}) == wanted
    assert (
        apply("ExtractField$Value", {"field": ""}, {"": 1})["value"]["payload"] == 1
    )  # V1: a name like others
    assert apply("ExtractField$Value", config, None)["value"] is None


@pytest.mark.parametrize("value", [None, 5])
def test_a_schema_that_is_no_point_in_time_fails_the_timestamp_converter_with_a_connect_error(
    value: int | None,
) -> None:
    convert = PLUGINS.find(f"{PACKAGE}.TimestampConverter$Value", (PluginKind.TRANSFORMATION,)).make()
    convert.configure({"target.type": "unix"})
    schema = OPTIONAL_INT32_SCHEMA
    with pytest.raises(ConnectError, match="does not correspond to a known timestamp type format") as raised:
        convert.apply(SinkRecord("t", 0, 0, None, value, None, schema))
    assert not isinstance(raised.value, DataError)
    assert convert.apply(SinkRecord("t", 0, 0, None, 5, None, INT64_SCHEMA)).value == 5


@pytest.mark.parametrize("fields", [{"c": 1, "d": 2, "a": 3}, {"a": 3, "c": 1, "d": 2}])
@pytest.mark.parametrize(
    ("renames", "renamed"),
    [
        ("a:y,d:y", {"c": 1, "y": 2}),
        ("d:y,a:y", {"c": 1, "y": 2}),
        ("a:c", {"c": 1, "d": 2}),
        ("d:a", {"a": 2, "c": 1}),
    ],
)
def test_of_fields_renamed_alike_the_last_of_javas_map_stays(
    renames: str, renamed: dict[str, int], fields: dict[str, int]
) -> None:
    answer = apply("ReplaceField$Value", {"renames": renames}, fields)

    assert answer["value"]["payload"] == renamed
