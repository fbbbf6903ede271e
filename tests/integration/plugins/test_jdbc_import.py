"""KIP-26's import of databases by a whole system, and the examples on the JDBC sources' pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from copycat_connect.data import SinkRecord, Struct
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_embedded.ports import free_ports
from copycat_jdbc.kip26.connector import JDBCSourceConnector
from copycat_json.converter import JsonConverter
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.mariadb import MariaDb
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp

from tests.integration.plugins.jdbc_reading import divided, read, started, values
from tests.integration.plugins.jdbc_tables import (
    TOPIC,
    Place,
    of_mariadb,
    of_postgres,
    of_sqlite,
    put,
)
from tests.integration.plugins.jdbc_tables import started as sink_started
from tests.plain_hosts import on_plain_hosts

SECONDS = 90.0
JSON = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
SAMPLE = {
    "connector.class": "org.apache.kafka.copycat.JDBCSourceConnector",
    "connector.tasks.max": "20",
    "jdbc.table.whitelist": "some_table",
}


class Database:
    """A database of its own."""

    def __init__(self, server: Postgres) -> None:
        self.name = unique("shop").replace("-", "_")
        self.url = server.url(self.name)
        self.sample_url = f"{self.url}?user={USER}&password={SECRET}"
        self.login = {"connection.url": self.url, "connection.user": USER, "connection.password": SECRET}
        self._conninfo = server.conninfo
        self._run("postgres", f"CREATE DATABASE {self.name}")

    def run(self, *statements: str) -> None:
        self._run(self.name, *statements)

    def _run(self, database: str, *statements: str) -> None:
        with psycopg.connect(self._conninfo, dbname=database, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.fixture
def database(postgres: Postgres) -> Database:
    return Database(postgres)


class Connector:
    """A connector of a running system."""

    def __init__(self, url: str, name: str, config: dict[str, str]) -> None:
        self._url = f"{url}/connectors/{name}"
        httpx2.put(f"{self._url}/config", json={**JSON, **config}, timeout=90).raise_for_status()

    def running(self) -> int:
        """Return how many tasks run; none may have failed."""
        reply = httpx2.get(f"{self._url}/status", timeout=60)
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        assert "FAILED" not in [task["state"] for task in tasks], reply.text
        return [task["state"] for task in tasks].count("RUNNING")

    def delete(self) -> None:
        httpx2.delete(self._url, timeout=90).raise_for_status()


def ids(kafka: str, topic: str) -> list[Any]:
    return [json.loads(message.value() or b"null")["id"] for message in consume_all(kafka, topic)]


def table(name: str, rows: int) -> list[str]:
    return [
        f"CREATE TABLE {name} (id serial PRIMARY KEY, word text)",
        f"INSERT INTO {name} (word) SELECT 'word ' || n FROM generate_series(1, {rows}) n",  # noqa: S608
    ]


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.row("K26-90")
def test_the_sample_of_the_document_runs_as_written_distributed(
    system: CopycatUp, kafka: str, database: Database
) -> None:
    database.run(*table("some_table", 3), *table("other_table", 3))
    prefix = f"{unique('my-database')}-"
    config = {**SAMPLE, "jdbc.connection": database.sample_url, "jdbc.topic.prefix": prefix}
    connector = Connector(system.url, unique("sample"), config)
    wait_until(lambda: ids(kafka, f"{prefix}some_table") == [1, 2, 3], SECONDS, "the rows")
    wait_until(lambda: connector.running() == 1, SECONDS, "one task of the one table")
    database.run("INSERT INTO some_table (word) VALUES ('later')")
    wait_until(lambda: ids(kafka, f"{prefix}some_table") == [1, 2, 3, 4], SECONDS, "the row that came later")
    connector.delete()


@pytest.mark.timeout(300)
@pytest.mark.row("K26-90")
def test_the_sample_of_the_document_runs_as_written_standalone(
    kafka: str, database: Database, tmp_path: Path
) -> None:
    database.run(*table("some_table", 3))
    prefix = f"{unique('my-database')}-"
    worker, sample = tmp_path / "worker.properties", tmp_path / "sample.properties"
    settings = {
        "bootstrap.servers": kafka,
        **JSON,
        "offset.storage.file.filename": str(tmp_path / "offsets"),
        "listeners": f"http://127.0.0.1:{free_ports(1)[0]}",
    }
    config = {"jdbc.connection": database.sample_url, "jdbc.topic.prefix": prefix}
    worker.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    named = {"name": unique("sample"), **SAMPLE, **config}
    sample.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
    commands = Commands(tmp_path, on_plain_hosts())
    try:
        running = commands.start(worker, sample)
        running.wait_ready(180)
        wait_until(lambda: ids(kafka, f"{prefix}some_table") == [1, 2, 3], SECONDS, "the rows")
        assert running.end() == 0
    finally:
        commands.close()


@pytest.mark.timeout(300)
@pytest.mark.row("K26-03", "K26-17", "K26-22", "K26-61", "K26-62")
def test_all_tables_of_all_schemas_are_copied_as_they_come_and_go(
    system: CopycatUp, kafka: str, database: Database
) -> None:
    database.run("CREATE SCHEMA sales", *table("orders", 2), *table("sales.customers", 3))
    prefix = f"{unique('all')}-"
    config = {
        "connector.class": "JdbcSource",
        **database.login,
        "mode": "incrementing",
        "topic.prefix": prefix,
    }
    often = {"tasks.max": "20", "table.poll.interval.ms": "200", "poll.interval.ms": "100"}
    connector = Connector(system.url, unique("all"), {**config, **often})
    wait_until(lambda: ids(kafka, f"{prefix}orders") == [1, 2], SECONDS, "a table")
    wait_until(lambda: ids(kafka, f"{prefix}customers") == [1, 2, 3], SECONDS, "a table of another schema")
    assert connector.running() == 2
    database.run(*table("sales.returns", 1))
    wait_until(lambda: ids(kafka, f"{prefix}returns") == [1], SECONDS, "the table that came later")
    wait_until(lambda: connector.running() == 3, SECONDS, "a task more")
    database.run("DROP TABLE orders", "INSERT INTO sales.customers (word) VALUES ('later')")
    wait_until(lambda: ids(kafka, f"{prefix}customers") == [1, 2, 3, 4], SECONDS, "the other goes on")
    wait_until(lambda: connector.running() == 2, SECONDS, "a task less")
    connector.delete()


@pytest.mark.timeout(300)
@pytest.mark.row("K26-09")
def test_a_stream_a_bulk_copy_and_files_in_batches_run_side_by_side(
    system: CopycatUp, kafka: str, database: Database, tmp_path: Path
) -> None:
    database.run(*table("events", 5), *table("places", 2))
    prefix = f"{unique('side')}-"
    source = {"connector.class": "JdbcSource", **database.login, "topic.prefix": prefix}
    streaming = {"mode": "incrementing", "table.whitelist": "events", "poll.interval.ms": "100"}
    bulk = {"mode": "bulk", "table.whitelist": "places", "poll.interval.ms": "1000"}
    files = {
        "connector.class": "ObjectSink",
        "topics": f"{prefix}events,{prefix}places",
        "store.url": tmp_path.as_uri(),
        "flush.size": "2",
        "format.class": "json",
    }
    running = [
        Connector(system.url, unique("side"), config)
        for config in ({**source, **streaming}, {**source, **bulk}, files)
    ]

    def stored(name: str) -> list[int]:
        found = sorted(tmp_path.glob(f"topics/{prefix}{name}/**/*.json"))
        return [json.loads(line)["id"] for file in found for line in file.read_text().splitlines()]

    wait_until(lambda: stored("events")[:4] == [1, 2, 3, 4], SECONDS, "files of the stream")
    wait_until(lambda: stored("places")[:4] == [1, 2, 1, 2], SECONDS, "files of two copies in bulk")
    database.run("INSERT INTO events (word) VALUES ('later')")
    wait_until(lambda: stored("events") == [1, 2, 3, 4, 5, 6], SECONDS, "files of what came later")
    for connector in running:
        connector.delete()


EVERY_TABLE, SQLITE, JOIN = (
    dict(example) for example in load_plugins().find("JdbcSource", CONNECTORS).examples.values()
)
(SAMPLE_ON_PAGE,) = (
    load_plugins().find("org.apache.kafka.copycat.JDBCSourceConnector", CONNECTORS).examples.values()
)


@pytest.fixture
def pg(postgres: Postgres) -> Place:
    found = of_postgres(postgres)
    found.run("DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public")
    return found


def example(written: Mapping[str, str], place: Place) -> dict[str, str]:
    """Return an example where address and login are those of a place."""
    return {**written, **place.config}


def test_new_rows_of_every_table_with_the_time_of_their_last_change(pg: Place) -> None:
    for name in ("orders", "customers"):
        pg.run(
            f"CREATE TABLE {name} (id serial PRIMARY KEY, updated_at timestamptz DEFAULT now())",
            f"INSERT INTO {name} DEFAULT VALUES",
        )
    (task_config,) = divided(example(EVERY_TABLE, pg))
    task = started(task_config)
    records = read(task, 2)
    task.stop()
    assert {record.topic for record in records} == {"shop-orders", "shop-customers"}
    assert values(records, "id") == [1, 1]


def test_one_table_of_sqlite(tmp_path: Path) -> None:
    place = of_sqlite(tmp_path / "shop.db")
    place.run("CREATE TABLE orders (id INTEGER PRIMARY KEY)", "INSERT INTO orders VALUES (1), (2)")
    (task_config,) = divided(example(SQLITE, place))
    task = started(task_config)
    records = read(task, 2)
    task.stop()
    assert [(record.topic, record.source_offset) for record in records] == [
        ("shop-orders", {"incrementing": 1}),
        ("shop-orders", {"incrementing": 2}),
    ]


def test_a_join(mariadb: MariaDb) -> None:
    place = of_mariadb(mariadb)
    place.run(
        "DROP TABLE IF EXISTS orders",
        "DROP TABLE IF EXISTS customers",
        "CREATE TABLE orders (id int NOT NULL, customer int)",
        "CREATE TABLE customers (id int, name varchar(20))",
        "INSERT INTO customers VALUES (1, 'Ada')",
        "INSERT INTO orders VALUES (7, 1)",
    )
    (task_config,) = divided(example(JOIN, place), 20)
    task = started(task_config)
    (record,) = read(task, 1)
    task.stop()
    assert isinstance(record.value, Struct)
    assert (record.topic, record.value.values) == ("orders-with-names", [7, "Ada"])


def test_the_sample_of_kip_26(pg: Place, postgres: Postgres) -> None:
    pg.run("CREATE TABLE some_table (id serial PRIMARY KEY)", "INSERT INTO some_table DEFAULT VALUES")
    url = f"{postgres.url()}?user={USER}&password={SECRET}"
    (task_config,) = divided({**SAMPLE_ON_PAGE, "jdbc.connection": url}, 20, JDBCSourceConnector())
    task = started(task_config)
    records = read(task, 1)
    task.stop()
    assert [(record.topic, record.source_offset) for record in records] == [
        ("my-database-some_table", {"incrementing": 1})
    ]


def test_a_wrong_key_of_the_sample_is_told_by_its_own_name() -> None:
    found = {
        value.name: value.errors
        for value in JDBCSourceConnector().validate({**SAMPLE_ON_PAGE, "jdbc.connection": "x"})
    }
    assert "jdbc.connection" in found["jdbc.connection"][0]
    assert [name for name, errors in found.items() if errors] == ["jdbc.connection"]
    assert not {"connection.url", "topic.prefix", "table.whitelist"} & {*found}


@pytest.mark.row("K26-06", "K26-15")
def test_the_schema_of_a_table_is_kept_through_json_into_another_table(pg: Place) -> None:
    columns = (
        "id bigint NOT NULL, small smallint, word text, price numeric(10,2), paid boolean NOT NULL, "
        "half double precision, made date, open time, at timestamp, raw bytea"
    )
    row = "7, 8, 'é', 12.30, true, 0.5, '2026-01-02', '03:04:05', '2026-01-02 03:04:05.678', '\\x00ff'"
    pg.run(f"CREATE TABLE things ({columns})", f"INSERT INTO things VALUES ({row})")  # noqa: S608  constants
    (task_config,) = divided({**pg.config, "mode": "bulk", "topic.prefix": "t-", "table.whitelist": "things"})
    task = started(task_config)
    (record,) = read(task, 1)
    task.stop()
    converter = JsonConverter()
    converter.configure({"schemas.enable": "true"})
    (data,) = converter.from_connect_batch(record.topic, record.value_schema, [record.value])
    arrived = converter.to_connect(record.topic, None, data)
    assert arrived.schema == record.value_schema

    sink, _ = sink_started(pg, table_name_format="copies")
    put(sink, [SinkRecord(TOPIC, 0, 0, None, arrived.value, value_schema=arrived.schema)])
    sink.stop()
    described = (
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_name = '{}' AND column_name <> 'price' ORDER BY column_name"
    )
    assert pg.run(described.format("copies")) == pg.run(described.format("things"))
    assert pg.run("SELECT * FROM copies") == pg.run("SELECT * FROM things")
