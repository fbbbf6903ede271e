"""KIP-26's import of databases by a whole system: its own sample, all tables by default, and neighbours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)

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
