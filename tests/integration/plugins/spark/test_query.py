"""SQL over topics: what arrives is what the query gives for each record, once, whatever is killed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from copycat_testkit.kafka import create_topic, idempotent_producer, unique, wait_until
from copycat_testkit.spans import OtlpReceiver

from tests.integration.plugins.spark.lake import SECONDS, TRACED, Lake, traced

pytestmark = pytest.mark.timeout(500)

PLAIN = {"connector.class": "SparkQuery", "value.converter.schemas.enable": "false"}


def send(
    kafka: str,
    topic: str,
    values: list[object],
    partition: int = 0,
    headers: dict[str, str | bytes | None] | None = None,
) -> None:
    """Send values as JSON, those that are bytes as they are."""
    producer: Producer = idempotent_producer(kafka)
    for value in values:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        producer.produce(topic, data, partition=partition, headers=headers)
    producer.flush()


def test_a_query_filters_and_projects_and_obeys_rest(lake: Lake, spans: OtlpReceiver) -> None:
    name, orders = unique("query"), unique("orders")
    create_topic(lake.kafka, orders, partitions=2)
    for partition in (0, 1):
        ids = range(partition, 2000, 2)
        send(
            lake.kafka,
            orders,
            [{"id": each, "paid": each % 3 == 0, "price": "1.50"} for each in ids],
            partition,
            TRACED,
        )
    query = {
        **PLAIN,
        "tasks.max": "2",
        "trace.records": "continue",
        "input.topics": orders,
        "input.columns": "id BIGINT, paid BOOLEAN, price DECIMAL(10,2), _partition INT, _offset BIGINT",
        "sql": "SELECT id, CAST(price * 2 AS DOUBLE) AS double, _partition AS part FROM records WHERE paid",
        "key.expression": "id",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "input.key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "topic.expression": "IF(id % 2 = 0, NULL, '" + name + "-odd')",
    }
    lake.put(name, **query)
    even, odd = lake.waits_for(name, 334), lake.waits_for(f"{name}-odd", 333)
    assert [json.loads(value) for value in even] == [
        {"id": each, "double": 3.0, "part": 0} for each in range(0, 2000, 6)
    ]
    assert [message.key() for message in lake.records(f"{name}-odd")] == [
        str(json.loads(value)["id"]).encode() for value in odd
    ]
    assert not any(message.headers() for message in lake.records(name))
    wait_until(lambda: traced(spans, name, f"process {orders}") >= 2000, SECONDS, "spans of what it reads")
    lake.ask("DELETE", name)


@pytest.mark.long
def test_records_join_tables_as_they_are_now_and_with_state_records_of_other_topics(lake: Lake) -> None:
    joined, matched, orders, bills = unique("joined"), unique("matched"), unique("orders"), unique("bills")
    create_topic(lake.kafka, orders)
    create_topic(lake.kafka, bills)
    query = {
        **PLAIN,
        "delivery.guarantee": "exactly_once",
        "tables": "customers",
        "table.customers.format": "parquet",
        "table.customers.url": f"file://{lake.folder}/customers",
        "tables.refresh.ms": "1000",
    }
    name = "LEFT JOIN customers c ON o.customer = c.id"
    lake.put(
        joined,
        **query,
        **{"input.topics": orders, "input.columns": "id BIGINT, customer INT"},
        sql=f"SELECT o.id, c.name FROM records o {name}",  # noqa: S608 - a query of our own
    )
    of_topics = {
        "input.topics": f"{orders}, {bills}",
        f"input.columns.{orders}": "id BIGINT, customer INT",
        f"input.columns.{bills}": "id BIGINT, paid INT",
        "state.url": f"file://{lake.folder}/state",
        "state.interval.ms": "200",
    }
    paid = f"FROM `{orders}` o JOIN `{bills}` b ON o.id = b.id"
    lake.put(matched, **query, **of_topics, sql=f"SELECT o.id, b.paid, c.name {paid} {name}")
    for each in (joined, matched):
        wait_until(lambda: lake.state(each) == "RUNNING", SECONDS, f"{each} runs")  # noqa: B023
    sent = 0

    def have(name: str) -> bool:
        """Send one more, and return whether the last that arrived of both queries has a name."""
        nonlocal sent
        sent += 1
        send(lake.kafka, bills, [{"id": sent, "paid": sent}])
        send(lake.kafka, orders, [{"id": sent, "customer": 7}])
        last = [json.loads(value)["name"] for topic in (joined, matched) for value in lake.values(topic)[-1:]]
        return last == [name, name]

    for name in ("Ada", "Bea"):
        write_customers(lake, {7: name, 8: "Cy"})
        wait_until(lambda: have(name), SECONDS, f"both have {name}")  # noqa: B023
    for topic, fields in ((joined, {"id"}), (matched, {"id", "paid"})):
        found = [json.loads(value) for value in lake.waits_for(topic, sent)]
        assert Counter(each[field] for each in found for field in fields) == Counter(
            {each: len(fields) for each in range(1, sent + 1)}
        )
        names = [each["name"] for each in sorted(found, key=lambda each: each["id"])]
        assert names == sorted(names)
        assert set(names) == {"Ada", "Bea"}
        lake.ask("DELETE", topic)


def write_customers(lake: Lake, names: dict[int, str]) -> None:
    """Write a table whole: nobody sees a part of it."""
    folder = lake.folder / "customers"
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": list(names), "name": list(names.values())}), folder / ".new")
    (folder / ".new").rename(folder / "customers.parquet")


def windows(lake: Lake, name: str, count: int) -> Counter[tuple[int, int, int]]:
    """Wait for so many windows, and return all: their minute, how many records, and the sum of their ids."""
    found = [json.loads(value) for value in lake.waits_for(name, count)]
    return Counter((each["minute"], each["orders"], each["ids"]) for each in found)


def counted(first: int, count: int) -> list[tuple[int, int, int]]:
    """What minutes have, from the first on, of records that come each second."""
    return [(minute, 60, sum(range(minute * 60, minute * 60 + 60))) for minute in range(first, first + count)]


@pytest.mark.long
def test_windows_are_counted_once_whatever_is_killed_and_only_with_their_own_state(lake: Lake) -> None:
    name, orders = unique("query"), unique("orders")
    create_topic(lake.kafka, orders, partitions=2)
    query = {
        **PLAIN,
        "tasks.max": "2",
        "input.topics": orders,
        "input.columns": "id BIGINT, at TIMESTAMP",
        "sql": "SELECT unix_seconds(window.start) DIV 60 AS minute, count(*) AS orders, sum(id) AS ids "
        "FROM records GROUP BY window(at, '1 minute')",
        "key.expression": "minute",
        "key.converter": "org.apache.kafka.connect.converters.LongConverter",
        "watermark.column": "at",
        "watermark.delay": "1000 seconds",
        "state.url": f"file://{lake.folder}/state",
        "delivery.guarantee": "exactly_once",
    }
    lake.put(name, **query)
    for wave, victim in enumerate(("", "driver", "partition", "")):
        for partition in (0, 1):
            ids = range(1000 * wave + partition, 1000 * (wave + 1), 2)
            send(lake.kafka, orders, [{"id": each, "at": each * 1000} for each in ids], partition)
        assert windows(lake, name, (1000 * wave - 1) // 60) == Counter(
            counted(0, max(1000 * wave - 1, 0) // 60)
        )
        if victim:
            lake.kill(victim)

    offset = positions(lake, name)
    assert (offset[f"{orders}-0"], offset[f"{orders}-1"]) == (2000, 2000)
    lake.stop(name)
    moved = {"partition": {"query": name}, "offset": {f"{orders}-0": 1500, f"{orders}-1": 1500}}
    lake.ask("PATCH", f"{name}/offsets", {"offsets": [moved]})
    lake.ask("PUT", f"{name}/resume")
    wait_until(lambda: positions(lake, name).get("batch", -1) >= 0, SECONDS, "a batch from there on is done")
    assert positions(lake, name)["epoch"] != offset["epoch"]
    send(lake.kafka, orders, [{"id": each, "at": each * 1000} for each in range(4000, 5000)])
    again = windows(lake, name, 49 + 16)
    assert again == Counter([*counted(0, 49), *counted(50, 16)])

    lake.stop(name)
    shutil.rmtree(lake.folder / "state")
    lake.ask("PUT", f"{name}/resume")
    wait_until(lambda: lake.state(name) == "FAILED", SECONDS, "it fails")
    status = lake.ask("GET", f"{name}/status")
    assert "DELETE offsets" in status["tasks"][0]["trace"]  # type: ignore[index]
    lake.stop(name)
    lake.ask("DELETE", f"{name}/offsets")
    lake.ask("PUT", f"{name}/resume")
    assert windows(lake, name, 65 + 66) == again + Counter(counted(0, 66))
    lake.ask("DELETE", name)


def positions(lake: Lake, name: str) -> dict[str, Any]:
    """The offset of a query with state; empty without one."""
    reply = lake.ask("GET", f"{name}/offsets")
    assert isinstance(reply, dict)
    found = [each["offset"] for each in reply["offsets"] if each["partition"] == {"query": name}]
    return dict(found[0]) if found else {}
