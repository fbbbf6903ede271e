"""SparkSql without Spark: what goes to the engine, and records out of what comes back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    Header,
    SchemaBuilder,
    SinkRecord,
    SourceRecord,
    Struct,
)
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import Transformation, load_plugins

CLASS = "copycat_plugins.transforms.spark_sql.SparkSql"
SQL = "SELECT something FROM records"
ORDER = "id BIGINT NOT NULL, name STRING"
AT = datetime(2026, 1, 2, tzinfo=UTC)


class FakeEngine:
    """Answers with rows of its own, and remembers what it got."""

    def __init__(self, schema: str, *rows: dict[str, Any]) -> None:
        self.schema = schema
        self.rows = rows
        self.columns = ""
        self.batches: list[pa.Table] = []

    @property
    def queries(self) -> FakeEngine:
        return self

    def prepare(self, sql: str, columns: str) -> str:
        self.columns = columns
        if sql != SQL:
            raise ConfigError("[PARSE_SYNTAX_ERROR] at 'SELEC'")
        return self.schema

    def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        table = pa.ipc.open_stream(batch).read_all()
        self.batches.append(table)
        rows = self.rows or [
            {"value": each["topic"], "__place": place} for place, each in enumerate(table.to_pylist())
        ]
        answer, sink = pa.Table.from_pylist(list(rows)), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, answer.schema) as writer:
            writer.write_table(answer)
        return bytes(sink.getvalue())


def made(engine: FakeEngine, value: str = "STRING", **config: str) -> Transformation:
    transformation: Transformation = load_plugins().find(CLASS).make()
    transformation.initialize(engine)
    transformation.configure({"sql": SQL, "value.schema": value, **config})
    return transformation


def records(*values: Any) -> list[SinkRecord]:
    return [SinkRecord("t", 0, place, "k", value, timestamp=1000) for place, value in enumerate(values)]


def test_the_engine_gets_every_part_of_the_records_in_its_type() -> None:
    engine = FakeEngine("value STRING")
    order = SchemaBuilder.struct().field("id", INT64_SCHEMA).build()
    record = SourceRecord(
        None, None, "t", Struct(order, {"id": 7}), key="k", timestamp=1000, headers=[Header("h", 5)]
    )

    made(engine, ORDER).apply_to_records([record])

    assert engine.columns == (
        "value STRUCT<id BIGINT, name STRING>, key STRING, topic STRING, timestamp TIMESTAMP, "
        "headers ARRAY<STRUCT<key: STRING, value: STRING>>"
    )
    assert engine.batches[0].to_pylist() == [
        {
            "value": {"id": 7, "name": None},
            "key": "k",
            "topic": "t",
            "timestamp": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
            "headers": [{"key": "h", "value": "5"}],
        }
    ]


def test_a_row_goes_to_the_record_of_its_place_and_a_record_without_one_is_dropped() -> None:
    rows = ({"id": 1, "name": "a", "__place": 2}, {"id": 2, "name": None, "__place": 0})
    results = made(FakeEngine(ORDER, *rows)).apply_to_records(records("x", "y", "z"))
    assert results is not None
    found = [result and (result.offset, result.value["id"], result.value["name"]) for result in results]
    assert found == [(0, 2, None), None, (2, 1, "a")]
    assert results[0] is not None
    assert str(results[0].value_schema) == "Schema{STRUCT}"


def test_columns_named_after_parts_of_a_record_change_those_and_leave_the_value() -> None:
    row = {"key": 5, "topic": "u", "timestamp": AT, "__place": 0}
    engine = FakeEngine("key BIGINT, topic STRING, timestamp TIMESTAMP", row)
    result = made(engine).apply(records("x")[0])
    assert result is not None
    assert (result.key, result.topic, result.timestamp, result.value) == (5, "u", 1767312000000, "x")
    assert result.original_topic == "t"


def test_a_column_named_value_is_the_whole_value() -> None:
    result = made(
        FakeEngine("value STRING NOT NULL, topic STRING", {"value": "v", "topic": "u", "__place": 0})
    ).apply(records("x")[0])
    assert result is not None
    assert (result.value, result.value_schema, result.topic) == ("v", STRING_SCHEMA, "u")


def test_large_batches_go_in_parts_and_keep_their_order() -> None:
    engine = FakeEngine("value STRING")
    many = [SinkRecord(str(place), 0, place) for place in range(11_000)]
    results = made(engine).apply_to_records(many)
    assert results is not None
    assert [result and result.value for result in results] == [str(place) for place in range(11_000)]
    assert [batch.num_rows for batch in engine.batches] == [5000, 5000, 1000]


def test_long_values_go_in_parts_of_some_megabytes() -> None:
    engine = FakeEngine("value STRING")
    results = made(engine).apply_to_records(records(*("x" * 1_500_000 for _ in range(5))))
    assert results is not None
    assert [result and result.value for result in results] == ["t"] * 5
    assert [batch.num_rows for batch in engine.batches] == [2, 1, 2]


@pytest.mark.parametrize("value", ["seven", {"id": "seven"}, {"id": 2**63}])
def test_a_value_that_does_not_fit_its_schema_is_a_bad_record(value: Any) -> None:
    with pytest.raises(DataError, match=r"The value does not fit value\.schema"):
        made(FakeEngine(ORDER), ORDER).apply(records(value)[0])


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("MAP<STRING, INT>", [None]),
        ("MAP<STRING, INT>", {None: 1}),
        ("ARRAY<STRUCT<m: MAP<STRING, INT>>>", [{"m": [None]}]),
        ("MAP<STRING, MAP<STRING, INT>>", {"a": [None]}),
    ],
)
def test_a_value_that_arrow_would_end_the_process_for_is_a_bad_record(schema: str, value: Any) -> None:
    with pytest.raises(DataError, match=r"The value does not fit value\.schema"):
        made(FakeEngine(ORDER), schema).apply(records(value)[0])


def test_a_value_nested_too_deep_is_a_bad_record() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(DataError, match=r"The value does not fit value\.schema"):
        made(FakeEngine(ORDER), "ARRAY<STRING>").apply(records(value)[0])


def test_a_timestamp_beyond_sparks_years_is_a_bad_record() -> None:
    record = SinkRecord("t", 0, 0, "k", "v", timestamp=2**62)
    with pytest.raises(DataError, match="Spark cannot take the topic, timestamp or headers"):
        made(FakeEngine(ORDER)).apply(record)


def test_a_row_without_a_topic_is_a_bad_record() -> None:
    with pytest.raises(DataError, match="topic is null or empty"):
        made(FakeEngine("topic STRING", {"topic": None, "__place": 0})).apply(records("x")[0])


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("value STRING, id INT", "A column named value is the whole value: rename it, or leave out id"),
        ("topic INT", "The column topic names the record's topic and is a STRING"),
        ("timestamp BIGINT", "The column timestamp is the record's and is a TIMESTAMP"),
        ("d INTERVAL DAY", "Cast each column to a type of Connect's: INTERVAL stands where a type"),
    ],
)
def test_a_result_that_makes_no_record_is_an_error_of_the_query(schema: str, reason: str) -> None:
    transformation: Transformation = load_plugins().find(CLASS).make()
    transformation.initialize(FakeEngine(schema))
    (found,) = transformation.validate({"sql": SQL, "value.schema": "STRING"})
    assert found.name == "sql"
    assert reason in found.errors[0]


def test_what_spark_refuses_is_an_error_of_the_query() -> None:
    transformation: Transformation = load_plugins().find(CLASS).make()
    transformation.initialize(FakeEngine("id INT"))
    assert transformation.validate({"sql": SQL, "value.schema": "STRING"}) == []
    (found,) = transformation.validate({"sql": "SELEC", "value.schema": "STRING"})
    assert (found.name, found.errors) == ("sql", ["[PARSE_SYNTAX_ERROR] at 'SELEC'"])
