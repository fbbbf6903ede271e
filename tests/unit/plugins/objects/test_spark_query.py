"""What SparkQuery reads of records, and which settings and offsets it takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    MapColumns,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
)
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_connect.plugin import OffsetMove
from copycat_objects.spark_query.connector import SparkQueryConnector
from copycat_objects.spark_query.positions import effect_of
from copycat_objects.spark_query.record_columns import RecordRows
from copycat_objects.spark_query.settings import SparkQuerySettings
from copycat_objects.spark_query.task import SparkQueryTask

MICROS = pa.timestamp("us", tz="UTC")
AT = datetime(2024, 1, 2, 3, 4, 5, 6000, tzinfo=UTC)
MILLIS = int(AT.timestamp() * 1000)
QUERY = {
    "name": "q",
    "topic": "out",
    "input.topics": "orders",
    "input.columns": "id BIGINT",
    "sql": "SELECT id FROM records",
}
STATE = {**QUERY, "state.url": "file:///state"}


ICEBERG = {"iceberg.table": "shop.t", "iceberg.catalog.uri": "postgresql+psycopg://me:sesame@h/d"}


def table(**keys: str) -> dict[str, str]:
    """The keys of a table named a."""
    return {"tables": "a", **{f"table.a.{key}": value for key, value in keys.items()}}


def database(url: str = "jdbc:postgresql://h/d", **options: str) -> dict[str, str]:
    """Those of a table of a database."""
    given = {"driver": "org.postgresql.Driver", "dbtable": "t", "password": "sesame", **options}
    named = {f"table.a.option.{name}": value for name, value in given.items()}
    return {**table(format="jdbc", url=url), **named}


def batch(*values: ConnectValue, schema: Schema | None = None) -> SinkBatch:
    return SinkBatch.of(
        [
            SinkRecord("t", 3, number, b"k", value, None, schema, timestamp=MILLIS)
            for number, value in enumerate(values)
        ]
    )


def rows(columns: Mapping[str, pa.DataType], *batches: SinkBatch) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of batches, and what was reported."""
    reported: list[str] = []

    def report(of: SinkBatch, place: int, error: DataError) -> None:
        reported.append(f"{of[place].offset}: {error}")

    found = RecordRows(pa.schema(list(columns.items())))(iter(batches), report)
    return [row for each in found for row in each.to_pylist()], reported


def test_fields_of_maps_and_structs_are_columns_and_missing_ones_null() -> None:
    columns = {"id": pa.int64(), "word": pa.string(), "none": pa.bool_()}
    schema = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("word", OPTIONAL_STRING_SCHEMA).build()
    structs = batch(Struct(schema, {"id": 1, "word": "a"}), None, Struct(schema, {"id": 2}), schema=schema)
    maps = batch({"id": 3, "word": "b"}, {"id": 4.0, "more": 1})
    made = MapColumns({"id": (5, 6), "word": ("c", None)}, 2)
    found, reported = rows(columns, structs, maps, SinkBatch(made, maps.__getitem__))
    assert [(row["id"], row["word"], row["none"]) for row in found] == [
        (1, "a", None),
        (2, None, None),
        (3, "b", None),
        (4, None, None),
        (5, "c", None),
        (6, None, None),
    ]
    assert not reported


def test_columns_of_the_record_and_the_whole_value() -> None:
    columns = {
        "value": pa.string(),
        "_key": pa.binary(),
        "_topic": pa.string(),
        "_partition": pa.int32(),
        "_offset": pa.int64(),
        "_timestamp": MICROS,
        "__place": pa.int64(),
    }
    (row,), _ = rows(columns, batch("text"))
    assert tuple(row.values()) == ("text", b"k", "t", 3, 0, AT, 0)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (MICROS, MILLIS, AT),
        (MICROS, AT, AT),
        (MICROS, "2024-01-02T03:04:05.006Z", AT),
        (pa.date32(), "2024-01-02", date(2024, 1, 2)),
        (pa.decimal128(10, 2), "1.50", Decimal("1.50")),
        (pa.decimal128(10, 2), Decimal("1.50"), Decimal("1.50")),
        (pa.decimal128(10, 2), 7, Decimal("7.00")),
        (pa.int64(), "12", 12),
        (pa.string(), 12, "12"),
        (pa.list_(pa.int32()), [1, None], [1, None]),
        (pa.map_(pa.string(), pa.int32()), {"a": 1}, [("a", 1)]),
        (pa.struct([("at", MICROS)]), {"at": MILLIS, "more": 1}, {"at": AT}),
    ],
)
def test_values_become_what_their_column_is(type_: pa.DataType, value: ConnectValue, expected: Any) -> None:
    found, reported = rows({"x": type_}, batch({"x": value}, {"x": None}))
    assert ([row["x"] for row in found], reported) == ([expected, None], [])


def test_a_record_that_does_not_fit_is_reported_and_the_others_are_rows() -> None:
    schema = SchemaBuilder.struct().field("id", TIMESTAMP_SCHEMA).build()
    wrong = batch({"id": 1}, {"id": "x"}, {"id": 1.5}, "text", {"id": 2})
    found, reported = rows({"id": pa.int64()}, wrong, batch(Struct(schema, {"id": AT}), schema=schema))
    assert [row["id"] for row in found[:2]] == [1, 2]
    assert [text.split(":")[0] for text in reported[:3]] == ["1", "2", "3"]
    assert "The field id does not fit its column, int64" in reported[0]
    assert "the whole value is the column value" in reported[2]


@pytest.mark.parametrize(
    ("changed", "key", "text"),
    [
        ({"input.columns": None}, "input.columns", "columns the records of orders have"),
        ({"watermark.column": "at"}, "watermark.column", "set state.url"),
        ({"input.columns.orders": "id INT"}, "input.columns", "there is one table, records"),
        ({"state.url": "s3://bucket"}, "state.url", "hdfs://host:port/folder"),
        ({"state.url": "file:///a", "state.partitions": "64"}, "state.partitions", "no more than 63"),
        ({"output.mode": "complete"}, "output.mode", "append"),
        ({"tables": "a,a"}, "tables", "must not be duplicated"),
        ({"tables": "a b"}, "tables", "a b is no name of a table"),
        ({"tables": "Records"}, "tables", "Records is no name of a table"),
        ({"tables": "a"}, "tables", "Missing required configuration table.a.format: one of parquet"),
        (table(format="parquet"), "tables", "Missing required configuration table.a.url: file:///folder"),
        (table(format="excel"), "tables", "Invalid value excel for configuration table.a.format"),
        (table(format="orc", url="s3://b"), "tables", "for configuration table.a.url: expected file:///"),
        (table(format="iceberg", url="s3://b", **ICEBERG), "tables", "table.a.url: expected file:///folder"),
        (table(format="iceberg", url="/d"), "tables", "table.a.format=iceberg needs table.a.iceberg.table"),
        (
            table(format="iceberg", url="/d", **{**ICEBERG, "iceberg.catalog.uri": ""}),
            "tables",
            "table.a.format=iceberg needs table.a.iceberg.catalog.uri",
        ),
        (
            table(format="iceberg", url="/d", **{**ICEBERG, "iceberg.table": "orders"}),
            "tables",
            "Invalid value orders for configuration table.a.iceberg.table: expected namespace.name",
        ),
        (table(format="jdbc", url="file:///d"), "tables", "table.a.url: expected the address of a database"),
        (table(uri="file:///d"), "tables", "table.a.uri is not known: a table has format, url"),
        ({"table.b.url": "file:///d"}, "tables", "table.b.url is of a table that tables does not name: b"),
        (database(driver=""), "tables", "needs table.a.option.driver"),
        (database(query="SELECT 1"), "tables", "table.a.option.dbtable, its name, or table.a.option.query"),
        (
            {**database(), "table.a.option.url": "jdbc:x"},
            "tables",
            "Leave out table.a.option.url: the address is table.a.url",
        ),
        (database("jdbc:postgresql://h/d?password=sesame"), "tables", "into table.a.option.user and"),
        (database("jdbc:mysql://me:sesame@h/d"), "tables", "into table.a.option.user and"),
        (
            {
                **table(format="csv", url="/d"),
                "state.url": "file:///s",
                "input.columns.a": "x INT",
                "input.topics": "a",
            },
            "tables",
            "a is the table of that topic",
        ),
    ],
)
def test_settings_that_do_not_work_together_are_named(
    changed: dict[str, str | None], key: str, text: str
) -> None:
    given = {name: value for name, value in (QUERY | changed).items() if value is not None}
    found = {value.name: value.errors for value in SparkQueryConnector().validate(given)}
    assert list(filter(found.get, found)) == [key]
    assert text in found[key][0]
    assert "sesame" not in found[key][0]


def test_topics_with_columns_of_their_own_are_tables_of_their_names() -> None:
    state = {"state.url": "file:///a", "input.topics": "a,b,c", "input.columns.b": "x INT"}
    settings = SparkQuerySettings.parse({**QUERY, **state})
    settings.check()
    assert settings.topic_tables() == {"b": ("b",), "records": ("a", "c")}
    assert [settings.columns_of(topic) for topic in settings.input_topics] == [
        "id BIGINT",
        "x INT",
        "id BIGINT",
    ]


def test_a_table_of_iceberg_has_the_keys_of_catalogs_and_shows_no_secret() -> None:
    catalog = {**ICEBERG, "iceberg.catalog.type": "rest", "iceberg.catalog.warehouse": "w"}
    settings = SparkQuerySettings.parse({**QUERY, **table(format="iceberg", url="/d", **catalog)})
    settings.check()
    (a,) = settings.side_tables()
    assert a.catalog is not None
    assert a.catalog.table == "shop.t"
    assert a.catalog.properties == {"type": "rest", "uri": ICEBERG["iceberg.catalog.uri"], "warehouse": "w"}
    assert "sesame" not in f"{settings} {a}"


class StreamRows:
    """Rows of a stream, which refuse every watermark; also Spark's session, and who reads topics."""

    columns = ("id", "at")
    schema = pa.schema([("id", pa.int64())])

    def createDataFrame(self, *_: Any) -> StreamRows:
        return self

    def toArrow(self) -> StreamRows:
        return self

    def stream(self, *_: Any) -> StreamRows:
        return self

    def withWatermark(self, column: str, delay: str) -> None:
        raise ValueError(f"{column}, {delay}\nmore")

    def createOrReplaceTempView(self, name: str) -> None:
        assert name == "`records`"


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("at", r"watermark.column or watermark.delay: .* an interval, e.g. 5 minutes: at, 5 bananas$"),
        ("t", r"watermark.column: input.columns has no column t; name one of its TIMESTAMPs"),
    ],
)
def test_a_watermark_that_spark_refuses_fails_the_task_with_its_key(column: str, text: str) -> None:
    rows, config = StreamRows(), {**STATE, "watermark.column": column, "watermark.delay": "5 bananas"}
    task = SparkQueryTask()
    task.initialize(SimpleNamespace(topics=rows, configs=lambda: config))
    task.open(config)
    stream = task.stream()
    assert stream is not None
    with pytest.raises(ConfigError, match=text) as failed:
        stream.tables(rows, {})
    assert failed.value.fields == {"key": "watermark.column"}


def test_what_is_said_of_a_table_has_no_secret() -> None:
    config = {**QUERY, **database(password="open sesame", user="me")}
    settings = SparkQuerySettings.parse(config)
    settings.check()
    (a,) = settings.side_tables()
    assert a.options["password"] == "open sesame"
    assert "sesame" not in f"{settings} {a}"
    shown = a.shown(ValueError("of me: open sesame, open%20sesame\nmore"))
    assert shown == "of me: [hidden], [hidden]"


PLACE = {"topic": "orders", "partition": 0}


@pytest.mark.parametrize(
    ("config", "partition", "offset"),
    [
        (QUERY, PLACE, {"offset": 5}),
        (QUERY, {"any": 1}, None),
        (STATE, {"query": "q"}, {"orders-0": 5, "a-b-1": 0}),
        (STATE, {"query": "q"}, {"epoch": "e", "batch": 7, "orders-0": 5}),
        (STATE, {"query": "q", "slot": 1}, {"epoch": "e", "batch": 7}),
    ],
)
def test_offsets_that_may_be_set(config: dict[str, str], partition: Any, offset: Any) -> None:
    assert SparkQueryConnector().alter_offsets(config, [(partition, offset)])


@pytest.mark.parametrize(
    ("config", "partition", "offset"),
    [
        (QUERY, {"topic": "orders"}, {"offset": 5}),
        (QUERY, PLACE, {"offset": -1}),
        (QUERY, PLACE, {"offset": True}),
        (QUERY, PLACE, {"record": 5}),
        (STATE, PLACE, {"offset": 5}),
        (STATE, {"query": "q"}, {"orders": 5}),
        (STATE, {"query": "q"}, {"orders-0": "5"}),
        (STATE, {"query": "q", "slot": 1}, {"orders-0": 5}),
    ],
)
def test_offsets_that_are_none_are_refused(config: dict[str, str], partition: Any, offset: Any) -> None:
    with pytest.raises(ConnectError):
        SparkQueryConnector().alter_offsets(config, [(partition, offset)])


def test_what_moves_of_offsets_would_do() -> None:
    def effect(partition: Any, before: Any, after: Any) -> Any:
        found = effect_of(OffsetMove(partition, before, after))
        return found and (found.repeated, found.skipped, found.unit)

    query, now = {"query": "q"}, {"epoch": "e", "batch": 7, "a-0": 10, "a-1": 20}
    assert effect(PLACE, {"offset": 10}, {"offset": 4}) == (6, 0, "records")
    assert effect(PLACE, None, {"offset": 4}) == (0, 4, "records")
    assert effect(PLACE, {"offset": 10}, {"offset": "x"}) is None
    assert effect(query, now, None) == (30, 0, "records, read into an empty state")
    assert effect(query, now, {"a-0": 15, "a-1": 5}) == (15, 5, "records, read into an empty state")
    assert effect({**query, "slot": 0}, {"epoch": "e", "batch": 7}, None) == (0, 0, "records")


def test_the_columns_of_a_topic_are_needed_before_anything_starts() -> None:
    with pytest.raises(ConfigError):
        SparkQueryConnector().start({name: value for name, value in QUERY.items() if name != "input.columns"})
