"""Transformations and predicates: recorded answers of Kafka Connect 4.3.1, and what those cannot show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import (
    INT32_SCHEMA,
    Header,
    SchemaBuilder,
    SinkRecord,
    SourceRecord,
    Struct,
)
from copycat_connect.errors import DataError
from copycat_connect.plugin import Transformation

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
