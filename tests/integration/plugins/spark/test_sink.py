"""Topics that Spark writes to tables and folders of files: all records once, whatever is killed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from confluent_kafka import Producer
from copycat_testkit.kafka import create_topic, unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.spans import OtlpReceiver
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog

from tests.integration.plugins.jdbc_tables import of_postgres
from tests.integration.plugins.spark.lake import JSON, SECONDS, TRACED, Lake, traced

pytestmark = pytest.mark.timeout(500)
SCHEMA: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"field": "id", "type": "int64"},
        {"field": "word", "type": "string", "optional": True},
        {"field": "at", "type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1},
        {"field": "place", "type": "string"},
    ],
}


def value(number: int) -> bytes:
    word = None if number % 7 == 0 else f"wörd {number}"
    row = {"id": number, "word": word, "at": 1_700_000_000_000 + number, "place": f"a/{number % 3}"}
    return json.dumps({"schema": SCHEMA, "payload": row}).encode()


def produce(
    lake: Lake,
    topic: str,
    values: list[bytes | None],
    partitions: int = 3,
    headers: dict[str, str | bytes | None] | None = None,
) -> None:
    producer = Producer({"bootstrap.servers": lake.kafka})
    for number, each in enumerate(values):
        producer.produce(topic, each, partition=number % partitions, headers=headers)
    assert producer.flush(60) == 0


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a table, as an independent reader has them; none before there is a table."""
    if not DeltaTable.is_deltatable(str(folder)):
        return []
    found: list[dict[str, Any]] = DeltaTable(str(folder)).to_pyarrow_table().to_pylist()
    return found


def ids(folder: Path) -> Counter[int]:
    return Counter(row["id"] for row in rows(folder))


def sink(name: str, **config: str) -> dict[str, str]:
    return {
        "connector.class": "SparkSink",
        "topics": name,
        "tasks.max": "2",
        "delivery.guarantee": "exactly_once",
        "prefix": f"tables/{name}",
        "commit.interval.ms": "200",
        **config,
    }


def offsets(lake: Lake, name: str) -> dict[int, int]:
    """The positions that REST shows, by the number of the partition."""
    reply = lake.ask("GET", f"{name}/offsets")
    assert isinstance(reply, dict)
    return {each["partition"]["kafka_partition"]: each["offset"]["kafka_offset"] for each in reply["offsets"]}


def alter(lake: Lake, name: str, verb: str, body: object = None) -> None:
    """Change the positions of a connector that is stopped meanwhile."""
    lake.ask("PUT", f"{name}/stop")
    wait_until(lambda: lake.state(name) == "", SECONDS, "it stops")
    lake.ask(verb, f"{name}/offsets", body)
    lake.ask("PUT", f"{name}/resume")


def test_every_record_is_one_row_and_rest_is_obeyed(lake: Lake, spans: OtlpReceiver) -> None:
    name = unique("sink")
    table, letters = lake.folder / "tables" / name, f"{name}-letters"
    create_topic(lake.kafka, name, partitions=3)
    produce(lake, name, [value(number) for number in range(3000)], headers=TRACED)
    tolerant = {
        "trace.records": "continue",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    lake.put(name, **sink(name, **tolerant, **{"partition.field.name": "place"}))
    wait_until(lambda: len(rows(table)) >= 3000, SECONDS, "all rows")
    assert ids(table) == Counter(range(3000))
    wait_until(lambda: traced(spans, name, f"process {name}") >= 3000, SECONDS, "spans of all records")
    assert Counter(row["place"] for row in rows(table)) == {f"a/{each}": 1000 for each in range(3)}
    wait_until(lambda: offsets(lake, name) == dict.fromkeys(range(3), 1000), SECONDS, "positions")

    lake.ask("PUT", f"{name}/pause")
    wait_until(lambda: lake.state(name) == "PAUSED", SECONDS, "it pauses")
    produce(lake, name, [b"no JSON", None, value(3002), *map(value, range(3003, 3100))])
    lake.ask("PUT", f"{name}/resume")
    wait_until(lambda: len(rows(table)) >= 3098, SECONDS, "rows that came meanwhile")
    assert {each.value() for each in lake.records(letters)} == {b"no JSON", None}

    at = {"partition": {"kafka_topic": name, "kafka_partition": 2}, "offset": {"kafka_offset": 1000}}
    alter(lake, name, "PATCH", {"offsets": [at]})
    again = [number for number in range(3000, 3100) if number % 3 == 2]
    wait_until(lambda: len(rows(table)) >= 3098 + len(again), SECONDS, "rows of one partition again")
    once = Counter([*range(3000), *range(3002, 3100)])
    assert ids(table) == once + Counter(again)
    alter(lake, name, "DELETE")
    wait_until(lambda: len(rows(table)) >= 2 * 3098 + len(again), SECONDS, "all rows again")
    assert ids(table) == once + once + Counter(again)

    lake.ask("DELETE", name)
    wait_until(lambda: not lake.drivers(), SECONDS, "no driver is left")


@pytest.mark.long
def test_kills_of_drivers_and_partitions_lose_and_repeat_nothing(lake: Lake) -> None:
    name = unique("sink")
    table = lake.folder / "tables" / name
    create_topic(lake.kafka, name, partitions=2)
    lake.put(name, **sink(name, **{"commit.interval.ms": "1"}))
    total = 0
    for turn in range(4):
        produce(lake, name, [value(number) for number in range(total, total + 20_000)], 2)
        total += 20_000
        before = total - 20_000
        wait_until(lambda least=before: len(rows(table)) > least, SECONDS, "it writes")  # type: ignore[misc]
        lake.kill("driver" if turn % 2 else "partition")
    wait_until(lambda: len(rows(table)) >= total, SECONDS, "all rows")
    assert ids(table) == Counter(range(total))
    # Another reader than the library that has committed them: SparkSource.
    back = f"{name}-back"
    lake.put(back, **{"connector.class": "SparkSource", "format": "delta", "prefix": f"tables/{name}"})
    found = lake.waits_for(back, total)
    assert Counter(json.loads(each)["payload"]["id"] for each in found) == Counter(range(total))
    for each in (name, back):
        lake.ask("DELETE", each)


@pytest.mark.long
def test_a_table_of_iceberg_has_every_record_once_though_its_driver_is_killed(
    lake: Lake, postgres: Postgres
) -> None:
    name, total = unique("sink").replace("-", "_"), 0
    address = f"postgresql+psycopg://{USER}:{SECRET}@127.0.0.1:{postgres.port}/postgres"
    reader = load_catalog("lake", type="sql", uri=address)
    create_topic(lake.kafka, name, partitions=2)
    iceberg = {
        "format": "iceberg",
        "iceberg.table": f"shop.{name}",
        "iceberg.catalog.name": "lake",
        "iceberg.catalog.uri": address,
        "partition.field.name": "place",
        "commit.interval.ms": "1",
    }
    lake.put(name, **sink(name, **iceberg))

    def found(columns: str = "id") -> list[tuple[Any, ...]]:
        if not reader.table_exists(f"shop.{name}"):
            return []
        names = columns.split()
        scan = reader.load_table(f"shop.{name}").scan(selected_fields=tuple(names))
        return [tuple(row[each] for each in names) for row in scan.to_arrow().to_pylist()]

    for what in ("partition", "driver", "driver"):
        produce(lake, name, [value(number) for number in range(total, total + 20_000)], 2)
        before, total = total, total + 20_000
        wait_until(lambda least=before: len(found()) > least, SECONDS, "it writes")  # type: ignore[misc]
        lake.kill(what)
    wider = [json.loads(value(number)) for number in range(total, total + 100)]
    for each in wider:
        each["schema"] = {**SCHEMA, "fields": [*SCHEMA["fields"], {"field": "added", "type": "int32"}]}
        each["payload"]["added"] = -each["payload"]["id"]
    produce(lake, name, [json.dumps(each).encode() for each in wider], 2)
    wait_until(lambda: len(found()) >= total + 100, SECONDS, "all rows")
    expected = Counter((number, f"a/{number % 3}") for number in range(total + 100))
    assert Counter(found("id place")) == expected
    assert {-(added or 0) for (added,) in found("added")} == {0, *range(total, total + 100)}

    alter(lake, name, "DELETE")
    wait_until(lambda: len(found()) >= 2 * (total + 100), SECONDS, "all rows again")
    assert Counter(found("id place")) == expected + expected
    lake.ask("DELETE", name)


@pytest.mark.long
def test_files_without_a_table_have_every_record_once_though_their_driver_is_killed(lake: Lake) -> None:
    name, total = unique("sink"), 0
    folder = lake.folder / "files" / name
    create_topic(lake.kafka, name, partitions=2)
    files = {"format": "parquet", "prefix": f"files/{name}", "partition.field.name": "place"}
    lake.put(name, **sink(name, **files, **{"commit.interval.ms": "1"}))

    def found() -> Counter[tuple[int, str]]:
        if not folder.is_dir():
            return Counter()
        table = ds.dataset(folder, format="parquet", partitioning="hive").to_table()
        return Counter((row["id"], row["place"]) for row in table.to_pylist())

    for what in ("partition", "driver"):
        produce(lake, name, [value(number) for number in range(total, total + 20_000)], 2)
        before, total = total, total + 20_000
        wait_until(lambda least=before: found().total() > least, SECONDS, "it writes")  # type: ignore[misc]
        lake.kill(what)
    wait_until(lambda: found().total() >= total, SECONDS, "all rows")
    assert found() == Counter((number, f"a/{number % 3}") for number in range(total))
    lake.ask("DELETE", name)


@pytest.mark.long
def test_a_table_of_delta_follows_one_of_a_database_though_its_driver_is_killed(
    lake: Lake, postgres: Postgres
) -> None:
    name, place = unique("lake"), of_postgres(postgres)
    folder = lake.folder / "tables" / name
    place.run("CREATE TABLE followed (id serial PRIMARY KEY, name text, at timestamp NOT NULL)")
    copy = {
        **place.config,
        "connector.class": "JdbcSource",
        "mode": "timestamp+incrementing",
        "incrementing.column.name": "id",
        "timestamp.column.name": "at",
        "table.whitelist": "followed",
        "topic.prefix": f"{name}-",
        "poll.interval.ms": "50",
        "transforms": "key",
        "transforms.key.type": "org.apache.kafka.connect.transforms.ValueToKey",
        "transforms.key.fields": "id",
        "key.converter": JSON,
    }
    upsert = {"insert.mode": "upsert", "pk.fields": "id", "key.converter": JSON, "prefix": f"tables/{name}"}

    def there() -> dict[int, str]:
        return dict(place.run("SELECT id, name FROM followed"))

    def here() -> dict[int, str]:
        return {row["id"]: row["name"] for row in rows(folder)}

    place.run("INSERT INTO followed (name, at) SELECT 'first ' || n, now() FROM generate_series(1, 2000) n")
    lake.put(f"{name}-source", **copy)
    lake.put(name, **sink(f"{name}-followed", **upsert))
    wait_until(lambda: here() == there(), SECONDS, "the table")
    place.run("UPDATE followed SET name = 'changed', at = clock_timestamp() WHERE id % 7 = 0")
    lake.kill("driver")
    place.run(
        "INSERT INTO followed (name, at) SELECT n, clock_timestamp() FROM generate_series(1, 500) n",
        "UPDATE followed SET name = 'changed again', at = clock_timestamp() WHERE id % 11 = 0",
    )
    wait_until(lambda: here() == there(), SECONDS, "the table as it is now")
    assert len(rows(folder)) == 2500, "no row twice"
    for each in (name, f"{name}-source"):
        lake.ask("DELETE", each)
