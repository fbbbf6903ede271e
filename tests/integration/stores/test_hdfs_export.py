"""Topics and a database in HDFS as KIP-26 describes it: by a pattern, on three workers, by its own sample."""

from __future__ import annotations

import datetime
import decimal
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pyarrow as pa
import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from copycat_embedded.ports import free_ports
from copycat_objects.stores.store import Store
from copycat_testkit.commands import Commands
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.kafka import create_topic, produce, unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp
from pyarrow import parquet

from tests.integration.stores.sinks import place_in_hdfs, store_at, told_offsets
from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)

SECONDS = 90.0
PARTITIONS = 3
FLUSH = 10
CONVERTERS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
SAMPLE = {"connector.class": "org.apache.kafka.copycat.HDFSSinkConnector", "connector.tasks.max": "20"}
SAMPLE_FLUSH = 1000
"""Records of a file of the sample, which says nothing of it."""


class Connector:
    """A connector of a running system."""

    def __init__(self, system: CopycatUp, name: str) -> None:
        self._url = f"{system.url}/connectors/{name}"
        self.group = f"connect-{name}"

    def configure(self, config: dict[str, str]) -> None:
        httpx2.put(f"{self._url}/config", json=config, timeout=90).raise_for_status()

    def tell(self, verb: str) -> None:
        httpx2.put(f"{self._url}/{verb}", timeout=90).raise_for_status()

    def workers(self) -> list[str]:
        """Return the worker of each running task."""
        reply = httpx2.get(f"{self._url}/status", timeout=60)
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        assert "FAILED" not in [task["state"] for task in tasks], reply.text
        return [task["worker_id"] for task in tasks if task["state"] == "RUNNING"]

    def delete(self) -> None:
        httpx2.delete(self._url, timeout=90).raise_for_status()


@pytest.fixture
def connector(system: CopycatUp) -> Iterator[Connector]:
    found = Connector(system, unique("export"))
    yield found
    found.delete()


def produce_numbers(kafka: str, topic: str, numbers: range) -> None:
    """Add numbers, which become the offsets of a topic of one partition."""
    produce(kafka, topic, [b'{"n":%d}' % number for number in numbers])


def exported(store: Store, topic: str) -> list[int]:
    """Return the numbers in the files of a topic, by the offsets in their names."""
    found: list[int] = []
    for file in sorted(store.list(f"topics/{topic}"), key=lambda file: file.path):
        first, last = told_offsets(file.path)
        numbers = [json.loads(line)["n"] for line in store.read(file.path, 0, file.size).splitlines()]
        assert numbers == [*range(first, last + 1)], file.path
        found += numbers
    return found


@pytest.mark.row("K26-65", "K26-67", "K26-68")
def test_a_pattern_of_topics_is_exported_by_three_workers_wherever_the_group_is(
    kafka: str, hdfs: Hdfs, connector: Connector
) -> None:
    prefix, place = unique("events"), place_in_hdfs(hdfs, "hdfs.url")
    topics = [f"{prefix}-{number}" for number in range(PARTITIONS)]
    store = store_at(place)

    def exported_to(end: int) -> bool:
        return all(exported(store, topic) == [*range(end)] for topic in topics)

    for topic in topics:
        create_topic(kafka, topic)
        produce_numbers(kafka, topic, range(2 * FLUSH))
    connector.configure(
        {
            **place, **CONVERTERS, "connector.class": "io.confluent.connect.hdfs.HdfsSinkConnector",
            "topics.regex": f"{prefix}-.*", "tasks.max": str(PARTITIONS), "flush.size": str(FLUSH),
            "format.class": "io.confluent.connect.hdfs.json.JsonFormat",
        }
    )  # fmt: skip
    wait_until(lambda: len({*connector.workers()}) == PARTITIONS, SECONDS, "a task on each of three workers")
    wait_until(lambda: exported_to(2 * FLUSH), SECONDS, "the files of what was there")
    topics.append(create_topic(kafka, f"{prefix}-later"))
    produce_numbers(kafka, topics[-1], range(2 * FLUSH))
    wait_until(lambda: exported_to(2 * FLUSH), SECONDS, "the files of the topic that came later")

    connector.tell("stop")
    wait_until(lambda: not connector.workers(), SECONDS, "no task")
    for topic, offset in zip(topics, (0, 3, 3 * FLUSH, FLUSH), strict=True):
        move_group(kafka, connector.group, topic, offset)
        produce_numbers(kafka, topic, range(2 * FLUSH, 4 * FLUSH))
    connector.tell("resume")
    wait_until(lambda: exported_to(4 * FLUSH), SECONDS, "each record once, though the group was moved")


def move_group(kafka: str, group: str, topic: str, offset: int) -> None:
    """Commit an offset for a group, past Copycat."""
    admin = AdminClient({"bootstrap.servers": kafka})
    moved = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])
    for done in admin.alter_consumer_group_offsets([moved]).values():
        done.result(60)


@pytest.mark.long
@pytest.mark.row("K26-91")
def test_the_sample_of_the_document_runs_as_written_distributed(
    kafka: str, hdfs: Hdfs, connector: Connector
) -> None:
    url, topic = f"{hdfs.url}/{unique('export')}/", create_topic(kafka)
    produce_numbers(kafka, topic, range(SAMPLE_FLUSH))
    connector.configure({**SAMPLE, "hdfs.url": url, "topics": topic, **CONVERTERS})
    store = store_at({"hdfs.url": url, "webhdfs.url": hdfs.web_url})
    wait_until(lambda: exported(store, topic) == [*range(SAMPLE_FLUSH)], SECONDS, "the file")
    wait_until(lambda: len(connector.workers()) == int(SAMPLE["connector.tasks.max"]), SECONDS, "its tasks")


@pytest.mark.row("K26-91")
def test_the_sample_of_the_document_runs_as_written_standalone(
    kafka: str, hdfs: Hdfs, tmp_path: Path
) -> None:
    url, topic = f"{hdfs.url}/{unique('export')}/", create_topic(kafka)
    produce_numbers(kafka, topic, range(SAMPLE_FLUSH))
    worker, sample = tmp_path / "worker.properties", tmp_path / "sample.properties"
    told = {
        "bootstrap.servers": kafka, **CONVERTERS, "offset.storage.file.filename": str(tmp_path / "offsets"),
        "listeners": f"http://127.0.0.1:{free_ports(1)[0]}",
    }  # fmt: skip
    worker.write_text("".join(f"{key}={value}\n" for key, value in told.items()))
    config = {"name": unique("sample"), **SAMPLE, "hdfs.url": url, "topics": topic}
    sample.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    commands = Commands(tmp_path, on_plain_hosts(hdfs.environment()))
    try:
        running = commands.start(worker, sample)
        running.wait_ready(180)
        store = store_at({"hdfs.url": url, "webhdfs.url": hdfs.web_url})
        wait_until(lambda: exported(store, topic) == [*range(SAMPLE_FLUSH)], SECONDS, "the file")
        assert running.end() == 0
    finally:
        commands.close()


ORDERS = 500
CUSTOMERS = 200
TABLES_FLUSH = 100
"""Records of a file."""


@pytest.mark.long
@pytest.mark.row("K26-66", "K26-67")
def test_tables_become_files_with_the_types_of_their_columns(
    system: CopycatUp, postgres: Postgres, hdfs: Hdfs
) -> None:
    name = unique("shop").replace("-", "_")  # also a schema in the database
    source = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "tasks.max": "2",
        "connection.url": postgres.url(),
        "connection.user": USER,
        "connection.password": SECRET,
        "schema.pattern": name,
        "mode": "incrementing",
        "topic.prefix": f"{name}-",
        "poll.interval.ms": "200",
        "table.poll.interval.ms": "1000",
        "numeric.mapping": "none",
        "delivery.guarantee": "exactly_once",
    }
    sink = {
        "connector.class": "io.confluent.connect.hdfs.HdfsSinkConnector",
        "tasks.max": "2",
        "topics.regex": f"{name}-.*",
        **place_in_hdfs(hdfs, "hdfs.url"),
        "format.class": "io.confluent.connect.hdfs.parquet.ParquetFormat",
        "flush.size": str(TABLES_FLUSH),
        "consumer.override.metadata.max.age.ms": "1000",
    }
    store = store_at(sink)

    def rows_of(table: str) -> pa.Table | None:
        files = sorted(file.path for file in store.list(f"topics/{name}-{table}"))
        read = [parquet.read_table(io.BytesIO(store.read(path, 0, 1 << 24))) for path in files]
        return pa.concat_tables(read) if read else None

    def has_rows(table: str, count: int) -> bool:
        found = rows_of(table)
        return found is not None and len(found) >= count

    def connection() -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(postgres.conninfo, autocommit=True, options=f"-c search_path={name}")

    with connection() as database:
        database.execute(f"CREATE SCHEMA {name}")
        database.execute(
            "CREATE TABLE orders (id bigserial PRIMARY KEY, amount numeric(10,2) NOT NULL, day date,"
            " at timestamp NOT NULL, paid boolean, rate double precision, note text, raw bytea)"
        )
        insert_orders(database)
    for kind, config in (("source", source), ("sink", sink)):
        answer = httpx2.put(f"{system.url}/connectors/{name}-{kind}/config", json=config, timeout=90)
        assert answer.status_code == 201, answer.text
    wait_until(lambda: has_rows("orders", ORDERS), 90, "the orders in files")

    postgres.stop()
    postgres.start()
    with connection() as database:
        database.execute("CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL)")
        database.execute(
            "INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, %s) n",
            (CUSTOMERS,),
        )
        insert_orders(database)
        wait_until(lambda: has_rows("orders", 2 * ORDERS), 90, "the orders after the restart")
        wait_until(lambda: has_rows("customers", CUSTOMERS), 90, "the table that came later")
        columns = "id, amount, day, at, paid, rate, note, raw"
        expected = database.execute(f"SELECT {columns} FROM orders ORDER BY id").fetchall()  # noqa: S608

    for kind in ("source", "sink"):
        httpx2.delete(f"{system.url}/connectors/{name}-{kind}", timeout=90).raise_for_status()
    orders, customers = rows_of("orders"), rows_of("customers")
    assert orders is not None
    assert customers is not None
    assert {field.name: (str(field.type), field.nullable) for field in orders.schema} == {
        "id": ("int64", False),
        "amount": ("decimal128(10, 2)", False),
        "day": ("date32[day]", True),
        "at": ("timestamp[ms, tz=UTC]", False),
        "paid": ("bool", True),
        "rate": ("double", True),
        "note": ("string", True),
        "raw": ("binary", True),
    }
    found = [tuple(row.values()) for row in orders.to_pylist()]
    assert found == [(*row[:3], row[3].replace(tzinfo=datetime.UTC), *row[4:]) for row in expected]
    assert isinstance(found[0][1], decimal.Decimal)
    assert customers.to_pylist() == [{"id": n, "name": f"customer {n}"} for n in range(1, CUSTOMERS + 1)]
    assert SECRET not in "".join(system.said)


def insert_orders(database: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Add orders, of which every third has nothing where a column permits that."""
    database.execute(
        "INSERT INTO orders (amount, day, at, paid, rate, note, raw)"
        " SELECT n / 4.0, CASE WHEN mod(n, 3) > 0 THEN date '2026-01-01' + n END,"
        " timestamp '2026-01-01 12:00:00.125' + n * interval '1 minute',"
        " CASE WHEN mod(n, 3) > 0 THEN mod(n, 2) = 0 END, CASE WHEN mod(n, 3) > 0 THEN n / 7.0::float8 END,"
        " CASE WHEN mod(n, 3) > 0 THEN 'note é😀 ' || n END,"
        " CASE WHEN mod(n, 3) > 0 THEN decode('00ff', 'hex') END"
        " FROM generate_series(1, %s) n",
        (ORDERS,),
    )
