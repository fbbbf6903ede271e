"""Records whose value, key, topic and headers Spark makes by SQL; what it cannot is refused at creation."""

from __future__ import annotations

import json
from collections import Counter

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_objects.spark.settings import EXAMPLES
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.plugins.spark_lake import JSON, SECONDS, Lake

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]
PLAIN = {
    "value.converter.schemas.enable": "false",
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
}
SPARK = {"connector.class": "SparkSource", "tasks.max": "2", "format": "parquet"}
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
    pq.write_table(orders, lake.folder / f"{first:06}.parquet", row_group_size=max(rows // 4, 1))


def test_keys_by_expression_are_those_that_transformations_make_and_values_stay(lake: Lake) -> None:
    name, other = unique("spark"), unique("object")
    put_orders(lake, 0, 900)
    key = {"key.converter": JSON, "key.converter.schemas.enable": "false"}
    lake.put(name, **SPARK, **key, **{"key.expression": "id"})
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
            lake.put(name, **SPARK, **PLAIN, **{**query, wrong: reason, "delivery.guarantee": "exactly_once"})
        assert refused.value.response.status_code == 400
        assert f"Invalid value for configuration {wrong}: " in refused.value.response.text
    lake.put(name, **SPARK, **PLAIN, **query)
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
    lake.put(name, **SPARK, **PLAIN, **query)
    for done, what in ((1, "partition"), (3, "driver"), (6, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert len(lake.done(name)) < files
        lake.kill(what)
    wait_until(lambda: len(lake.done(name)) == files, SECONDS, "all files are done")
    found = [json.loads(value)["id"] for topic in topics for value in lake.values(topic)]
    assert Counter(found) == Counter(range(0, files * rows, 2))
    lake.ask("DELETE", name)
