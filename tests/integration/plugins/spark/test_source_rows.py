"""Delta tables, groups of small files and SQL: each row that Spark reads arrives once, whatever is killed."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_objects.spark.settings import EXAMPLES
from copycat_testkit.kafka import create_topic, unique, wait_until
from deltalake import DeltaTable, write_deltalake

from tests.integration.plugins.spark.lake import JSON, SECONDS, Lake

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]

DELTA_SOURCE = {
    "connector.class": "SparkSource",
    "tasks.max": "2",
    "format": "delta",
    "prefix": "orders",
    "value.converter.schemas.enable": "false",
}
EPOCH = date(1970, 1, 1)
BY = ["day", "kind", "paid", "price"]
"""Columns of partitions, of types that the log writes as texts."""


def rows(first: int, count: int, **more: list[Any]) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {
            "id": [*ids],
            "day": [EPOCH + timedelta(days=each % 2 * 20_000) for each in ids],
            "kind": [("a b", "ü/=%'\\\\", None)[each % 3] for each in ids],
            "paid": [each % 2 == 0 for each in ids],
            "price": pa.array([Decimal(each % 2) + Decimal("0.25") for each in ids], pa.decimal128(8, 2)),
            "word": [f"w{each}" for each in ids],
            **more,
        }
    )


def found(lake: Lake, topic: str) -> list[tuple[Any, ...]]:
    """The records, without the price, which JSON has as bytes."""
    values = [json.loads(value) for value in lake.values(topic)]
    return [(v["id"], v["day"], v["kind"], v["paid"], v["word"], v.get("added")) for v in values]


def expected(first: int, count: int, added: list[int] | None = None) -> list[tuple[Any, ...]]:
    table = rows(first, count).to_pylist()
    return [
        (row["id"], (row["day"] - EPOCH).days, row["kind"], row["paid"], row["word"], added and added[at])
        for at, row in enumerate(table)
    ]


def test_rows_of_a_delta_table_arrive_as_they_are_added_until_some_are_deleted(lake: Lake) -> None:
    name, table = unique("delta"), lake.folder / "orders"
    lake.put(name, **DELTA_SOURCE)
    write_deltalake(table, rows(0, 600), partition_by=BY)
    wait_until(lambda: lake.version(name) == 0, SECONDS, "the first version is read")
    assert Counter(found(lake, name)) == Counter(expected(0, 600))

    write_deltalake(table, rows(600, 60), mode="append")
    DeltaTable(table).optimize.compact()
    DeltaTable(table).create_checkpoint()
    more = [*range(30)]
    write_deltalake(table, rows(660, 30, added=more), mode="append", schema_mode="merge")
    wait_until(lambda: lake.version(name) == 3, SECONDS, "what was added is read")
    everything = [*expected(0, 660), *expected(660, 30, more)]
    assert Counter(found(lake, name)) == Counter(everything)

    write_deltalake(table, rows(690, 3, added=[1, 2, 3]), mode="append")
    DeltaTable(table).delete("id = 5")
    everything += expected(690, 3, [1, 2, 3])
    wait_until(lambda: lake.state(name) == "FAILED", SECONDS, "rows were deleted")
    status = lake.ask("GET", f"{name}/status")
    assert "Version 5 of" in status["tasks"][0]["trace"]  # type: ignore[index]
    assert lake.version(name) == 4
    assert Counter(found(lake, name)) == Counter(everything)

    lake.put(name, **DELTA_SOURCE, **{"delta.changes": "skip"})
    write_deltalake(table, rows(700, 1, added=[9]), mode="append")
    wait_until(lambda: lake.version(name) == 6, SECONDS, "it goes on behind them")
    assert Counter(found(lake, name)) == Counter([*everything, *expected(700, 1, [9])])
    lake.ask("DELETE", name)


def test_each_row_of_a_delta_table_arrives_exactly_once_though_driver_and_partition_are_killed(
    lake: Lake,
) -> None:
    name, table, versions, count = unique("delta"), lake.folder / "orders", 12, 4_000
    for version in range(versions // 2):
        write_deltalake(table, rows(version * count, count), mode="append", partition_by=BY)
    lake.put(name, **DELTA_SOURCE, **{"delivery.guarantee": "exactly_once"})
    files = len(DeltaTable(table).file_uris())
    for done, what in ((1, "partition"), (files // 3, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert lake.version(name) == -1
        lake.kill(what)
    DeltaTable(table).optimize.compact()  # the version that was begun is read as it was
    wait_until(lambda: lake.version(name) == versions // 2, SECONDS, "the first version is read")
    for version in range(versions // 2, versions):
        write_deltalake(table, rows(version * count, count), mode="append")
    wait_until(lambda: len(lake.done(name)) > files, SECONDS, "later versions are read")
    lake.kill("driver")
    wait_until(lambda: lake.version(name) == versions, SECONDS, "all versions are read")
    assert Counter(each[0] for each in found(lake, name)) == Counter(range(versions * count))
    lake.ask("DELETE", name)


GROUPS_SOURCE = {"connector.class": "SparkSource", "tasks.max": "2"}
PLAIN = {"value.converter.schemas.enable": "false"}
#: What Spark writes in another way in the addresses of files.
NAMES = ("a b", "a%20b", "wörd", "a+b", "[1]{2}", "x=1/part", "q?*", "plain")


def put_files(lake: Lake, files: int, rows: int) -> None:
    """Write Parquet files, every third with other columns, under names of every kind."""
    for number in range(files):
        ids = range(number * rows, (number + 1) * rows)
        columns = {"id": ids, **({"word": [f"w{each}" for each in ids]} if number % 3 else {})}
        file = lake.folder / f"{NAMES[number % len(NAMES)]}-{number:04}.parquet"
        file.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), file)


def test_small_parquet_files_arrive_as_object_source_sends_them_each_with_its_offset(lake: Lake) -> None:
    name, other, files, rows = unique("spark"), unique("object"), 120, 20
    put_files(lake, files, rows)
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), lake.folder / "empty.parquet")
    lake.put(name, **GROUPS_SOURCE, format="parquet")
    lake.put(other, **{"connector.class": "ObjectSource"})
    found = lake.waits_for(name, files * rows)
    assert Counter(found) == Counter(lake.waits_for(other, files * rows))
    wait_until(lambda: len(lake.done(name)) == files + 1, SECONDS, "all files are committed")
    assert sorted(lake.done(name)) == [0, *[rows] * files]
    for each in (name, other):
        lake.ask("DELETE", each)


def test_small_files_of_other_formats_are_read_as_each_alone_would_be(lake: Lake) -> None:
    name = unique("spark")
    for number in range(12):
        word = "word" if number % 2 else "text"
        (lake.folder / f"{number}.csv").write_text(f"id,{word}\n{number},a\n{number},{number}\n", "utf-8")
        (lake.folder / f"{number}.json").write_text(f'{{"id":{number}}}\n{{"{word}":"x"}}\n', "utf-8")
        (lake.folder / f"{number}.txt").write_text(f"{number}\n\nlast\n", "utf-8")
    words = ["word" if number % 2 else "text" for number in range(12)]
    csv = {"spark.option.header": "true"}
    expected: dict[str, tuple[dict[str, str], list[object]]] = {
        "csv": (
            csv,
            [{"id": str(n), w: v} for n, w in enumerate(words) for v in ("a", str(n))],
        ),
        "json": (
            {},
            [row for n, w in enumerate(words) for row in ({"id": n, w: None}, {"id": None, w: "x"})],
        ),
        "text": ({}, [value for n in range(12) for value in (str(n), "", "last")]),
    }
    for kind, (options, values) in expected.items():
        topic, pattern = f"{name}-{kind}", rf".*\.{'txt' if kind == 'text' else kind}"
        lake.put(name, **GROUPS_SOURCE, **PLAIN, **options, topic=topic, format=kind, pattern=pattern)
        found = [json.loads(value) for value in lake.waits_for(topic, len(values))]
        assert Counter(map(str, found)) == Counter(map(str, values)), kind
    lake.ask("DELETE", name)


def test_sql_sees_the_rows_of_each_file_of_a_group(lake: Lake) -> None:
    name, files, rows = unique("spark"), 40, 10
    for number in range(files):
        (lake.folder / f"{number}.txt").write_text("".join(f"{number} {row}\n" for row in range(rows)))
    query = {
        "sql": "SELECT CAST(split(value, ' ')[1] AS INT) AS row FROM records WHERE value LIKE '% _'",
        "key.expression": "split(value, ' ')[0]",
        "headers.expression.file": "_metadata.file_name",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    lake.put(name, **GROUPS_SOURCE, **PLAIN, **query, format="text")
    lake.waits_for(name, files * rows)
    found = Counter(
        (int(each.key() or b""), dict(each.headers() or [])["file"], json.loads(each.value() or b"")["row"])
        for each in lake.records(name)
    )
    assert found == Counter(
        (number, f"{number}.txt".encode(), row) for number in range(files) for row in range(rows)
    )
    lake.ask("DELETE", name)


def test_groups_arrive_exactly_once_though_driver_and_partition_are_killed(lake: Lake) -> None:
    name, files, rows = unique("spark"), 240, 500
    put_files(lake, files, rows)
    exact = {"delivery.guarantee": "exactly_once", "transaction.boundary.interval.ms": "300"}
    lake.put(name, **GROUPS_SOURCE, **PLAIN, **exact, format="parquet")
    for done, what in ((1, "partition"), (50, "driver"), (120, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert len(lake.done(name)) < files
        lake.kill(what)
    wait_until(lambda: len(lake.done(name)) == files, SECONDS, "all files are done")
    assert lake.done(name) == [rows] * files
    found = [json.loads(value)["id"] for value in lake.values(name)]
    assert Counter(found) == Counter(range(files * rows))
    lake.ask("DELETE", name)


PLAIN_WITH_KEYS = {
    "value.converter.schemas.enable": "false",
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
}
SQL_SOURCE = {"connector.class": "SparkSource", "tasks.max": "2", "format": "parquet"}
TO_KEY = {
    "transforms": "struct,field",
    "transforms.struct.type": "org.apache.kafka.connect.transforms.ValueToKey",
    "transforms.struct.fields": "id",
    "transforms.field.type": "org.apache.kafka.connect.transforms.ExtractField$Key",
    "transforms.field.field": "id",
}


def put_orders(lake: Lake, first: int, rows: int) -> None:
    ids = range(first, first + rows)
    words = [None if number % 5 == 0 else f"wörd {number}" for number in ids]
    countries = ["CH" if number % 3 == 0 else "AT" for number in ids]
    orders = pa.table(
        {
            "id": ids,
            "word": words,
            "country": countries,
            "price": [each * 10 for each in ids],
            "amount": [2] * rows,
            "paid": [each % 2 == 0 for each in ids],
        }
    )
    lake.add(f"{first:06}.parquet", orders, row_group_size=max(rows // 4, 1))


def test_keys_by_expression_are_those_that_transformations_make_and_values_stay(lake: Lake) -> None:
    name, other = unique("spark"), unique("object")
    put_orders(lake, 0, 900)
    key = {"key.converter": JSON, "key.converter.schemas.enable": "false"}
    lake.put(name, **SQL_SOURCE, **key, **{"key.expression": "id"})
    lake.put(other, **{"connector.class": "ObjectSource"}, **key, **TO_KEY)
    lake.waits_for(name, 900)
    lake.waits_for(other, 900)
    found, expected = (
        Counter((each.key(), each.value()) for each in lake.records(topic)) for topic in (name, other)
    )
    assert found == expected
    for each in (name, other):
        lake.ask("DELETE", each)


def test_sql_makes_values_topics_and_headers_and_what_cannot_work_is_refused_by_its_key(lake: Lake) -> None:
    name = unique("spark")
    put_orders(lake, 0, 300)
    (example,) = (each for each in EXAMPLES.values() if "sql" in each)
    topics = example["topic.expression"].replace("orders-", f"{name}-")
    query = {key: text for key, text in example.items() if key == "sql" or ".expression" in key}
    query |= {"topic.expression": topics, "headers.expression.word": "upper(word)"}
    for wrong, reason in {
        "sql": "SELECT id FROM records WHERE rand() < 0.5",
        "key.expression": "id +",
        "topic.expression": "uuid()",
        "headers.expression.word": "nofn(word)",
    }.items():
        with pytest.raises(httpx2.HTTPStatusError) as refused:
            lake.put(
                name,
                **SQL_SOURCE,
                **PLAIN_WITH_KEYS,
                **{**query, wrong: reason, "delivery.guarantee": "exactly_once"},
            )
        assert refused.value.response.status_code == 400
        assert f"Invalid value for configuration {wrong}: " in refused.value.response.text
    lake.put(name, **SQL_SOURCE, **PLAIN_WITH_KEYS, **query)
    paid = [number for number in range(300) if number % 2 == 0]
    for country, remainders in (("CH", {0}), ("AT", {1, 2})):
        ids = [number for number in paid if number % 3 in remainders]
        topic = f"{name}-{country.lower()}"
        lake.waits_for(topic, len(ids))
        records = lake.records(topic)
        assert [json.loads(each.value() or b"") for each in records] == [
            {"id": number, "country": country, "total": number * 20} for number in ids
        ]
        assert [each.key() for each in records] == [str(number).encode() for number in ids]
        assert [dict(each.headers() or []) for each in records] == [
            {"file": b"000000.parquet", **({} if number % 5 == 0 else {"word": f"WÖRD {number}".encode()})}
            for number in ids
        ]
    wait_until(lambda: lake.done(name) == [299], SECONDS, "the file is committed, up to its last paid row")
    lake.ask("DELETE", name)


def test_what_sql_leaves_of_a_file_arrives_exactly_once_though_its_driver_is_killed(lake: Lake) -> None:
    name, files, rows = unique("spark"), 12, 20_000
    for number in range(files):
        put_orders(lake, number * rows, rows)
    topics = [f"{name}-at", f"{name}-ch"]
    for topic in topics:
        create_topic(lake.kafka, topic)
    query = {
        "sql": "SELECT id FROM records WHERE paid",
        "key.expression": "id",
        "topic.expression": f"concat('{name}-', lower(country))",
        "transaction.boundary.interval.ms": "500",  # parts of a file are committed, too
        "delivery.guarantee": "exactly_once",
    }
    lake.put(name, **SQL_SOURCE, **PLAIN_WITH_KEYS, **query)
    for done, what in ((1, "partition"), (3, "driver"), (6, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert len(lake.done(name)) < files
        lake.kill(what)
    wait_until(lambda: len(lake.done(name)) == files, SECONDS, "all files are done")
    found = [json.loads(value)["id"] for topic in topics for value in lake.values(topic)]
    assert Counter(found) == Counter(range(0, files * rows, 2))
    lake.ask("DELETE", name)
