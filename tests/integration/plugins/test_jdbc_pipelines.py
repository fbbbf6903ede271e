"""Rows of PostgreSQL and made-up records through a whole system, once, though its task hosts are killed."""

from __future__ import annotations

import json

import httpx2
import psycopg
import pytest
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

#: A quarter of a minute of flow: a slow machine needs some of it to count what has arrived.
MADE_UP_RECORDS = 45_000
KILLS = 2


def test_made_up_records_arrive_exactly_once_though_hosts_are_killed(system: CopycatUp, kafka: str) -> None:
    name = unique("made-up")
    config = {
        "connector.class": "DatagenSource",
        "topic": name,
        "fields": json.dumps(
            [{"name": "id", "type": "sequence"}, {"name": "word", "type": "text", "pattern": "????"}]
        ),
        "throughput": "3000",
        "max.records": str(MADE_UP_RECORDS),
        "batch.size": "100",
        "delivery.guarantee": "exactly_once",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }

    def arrived() -> list[int]:
        return [json.loads(message.value() or b"{}")["id"] for message in consume_all(kafka, name)]

    httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=90).raise_for_status()
    for kill in range(KILLS):
        goal = (kill + 1) * MADE_UP_RECORDS // 15
        wait_until(lambda: len(arrived()) >= goal, 90, f"{goal} records")  # noqa: B023
        system.kill("host")
        assert len(arrived()) < MADE_UP_RECORDS, "the kill came while records flowed"
    wait_until(lambda: len(arrived()) >= MADE_UP_RECORDS, 90, "all records")
    httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()

    assert arrived() == list(range(MADE_UP_RECORDS))


ROWS = 20_000
"""Rows added before each kill, and after the last."""


def test_rows_arrive_exactly_once_though_hosts_are_killed(
    system: CopycatUp, kafka: str, postgres: Postgres
) -> None:
    prefix = unique("pg")
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": postgres.url(),
        "connection.user": USER,
        "connection.password": SECRET,
        "mode": "timestamp+incrementing",
        "incrementing.column.name": "id",
        "timestamp.column.name": "at",
        "table.whitelist": "orders",
        "topic.prefix": f"{prefix}-",
        "poll.interval.ms": "50",
        "batch.max.rows": "100",
        "delivery.guarantee": "exactly_once",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }

    def arrived() -> list[object]:
        return [json.loads(message.value() or b"null") for message in consume_all(kafka, f"{prefix}-orders")]

    def running() -> bool:
        reply = httpx2.get(f"{system.url}/connectors/{prefix}/status", timeout=60)
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        assert "FAILED" not in [task["state"] for task in tasks], reply.text
        return [task["state"] for task in tasks] == ["RUNNING"]

    with psycopg.connect(postgres.conninfo, autocommit=True) as database:
        database.execute("DROP TABLE IF EXISTS orders")
        database.execute(
            "CREATE TABLE orders (id bigserial PRIMARY KEY, amount numeric(10,2), "
            "at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
        httpx2.put(f"{system.url}/connectors/{prefix}/config", json=config, timeout=90).raise_for_status()
        struck = 0
        for kill in range(KILLS + 1):
            before = kill * ROWS
            database.execute(
                "INSERT INTO orders (amount) SELECT n / 4.0 FROM generate_series(1, %s) n", (ROWS,)
            )
            wait_until(lambda: len(arrived()) > before, 90, "the first of the new rows")  # noqa: B023
            if kill < KILLS:
                system.kill("host")
                struck += len(arrived()) < before + ROWS
                wait_until(running, 90, "a task runs again")
        wait_until(lambda: len(arrived()) >= (KILLS + 1) * ROWS, 90, "all rows")
        rows = database.execute("SELECT id, amount, at FROM orders ORDER BY id").fetchall()

    httpx2.delete(f"{system.url}/connectors/{prefix}", timeout=90).raise_for_status()
    found = [(each["id"], each["at"]) for each in arrived() if isinstance(each, dict)]
    assert found == [(number, int(at.timestamp() * 1_000_000) // 1000) for number, _, at in rows]
    assert SECRET not in "".join(system.said)
    assert struck, "no kill came while rows flowed"


@pytest.mark.row("K875-36")
def test_a_stop_closes_every_connection_and_a_pause_keeps_them(
    system: CopycatUp, kafka: str, postgres: Postgres
) -> None:
    name = unique("held")
    json_converter = "org.apache.kafka.connect.json.JsonConverter"
    shared = {
        "connection.url": postgres.url(),
        "connection.password": SECRET,
        "value.converter": json_converter,
    }
    configs = {
        f"{name}_in": {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            "mode": "bulk",
            "table.whitelist": name,
            "topic.prefix": "",
            **shared,
        },
        f"{name}_out": {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "topics": create_topic(kafka, name),
            "table.name.format": f"{name}_copy",
            "auto.create": "true",
            **shared,
        },
    }

    def states(connector: str) -> list[str]:
        status = httpx2.get(f"{system.url}/connectors/{connector}/status", timeout=60).json()
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    def become(action: str, *wanted: str) -> None:
        for connector in configs:
            httpx2.put(f"{system.url}/connectors/{connector}/{action}", timeout=90).raise_for_status()
        wait_until(lambda: all(states(each) == [*wanted] for each in configs), 90, f"both are {wanted}")

    with psycopg.connect(postgres.conninfo, autocommit=True) as database:

        def connections(user: str) -> set[int]:
            asked = "SELECT pid FROM pg_stat_activity WHERE usename = %s"
            return {pid for (pid,) in database.execute(asked, (user,)).fetchall()}

        database.execute(f'CREATE TABLE "{name}" AS SELECT 1 AS id')
        for connector, config in configs.items():
            database.execute(f"CREATE ROLE \"{connector}\" SUPERUSER LOGIN PASSWORD '{SECRET}'")
            config["connection.user"] = connector
            url = f"{system.url}/connectors/{connector}/config"
            httpx2.put(url, json=config, timeout=90).raise_for_status()
        copied = "SELECT to_regclass(%s) IS NOT NULL"
        wait_until(
            lambda: database.execute(copied, (f'"{name}_copy"',)).fetchall() == [(True,)],
            90,
            "a row was copied",
        )
        running = {connector: connections(connector) for connector in configs}
        become("pause", "PAUSED", "PAUSED")
        for connector in configs:
            assert running[connector] & connections(connector), "tasks keep what they hold"
        become("stop", "STOPPED")
        wait_until(lambda: not any(map(connections, configs)), 90, "no connection is left")

    for connector in configs:
        httpx2.delete(f"{system.url}/connectors/{connector}", timeout=90).raise_for_status()


PARTITIONS = 2
RECORDS = 6_000
"""Records added to each partition before each kill, and after the last."""
SCHEMA = {
    "type": "struct",
    "optional": False,
    "fields": [
        {"field": "id", "type": "int64", "optional": False},
        {"field": "part", "type": "int32", "optional": False},
        {"field": "word", "type": "string", "optional": True},
    ],
}


@pytest.mark.row("K26-55")
@pytest.mark.parametrize(
    "delivery",
    [
        {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id,part"},
        {"insert.mode": "insert", "delivery.guarantee": "exactly_once"},
    ],
    ids=["upsert", "exactly-once"],
)
def test_rows_are_the_records_though_hosts_are_killed(
    system: CopycatUp, kafka: str, postgres: Postgres, delivery: dict[str, str]
) -> None:
    name = unique("rows")
    create_topic(kafka, name, partitions=PARTITIONS)
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": name,
        "tasks.max": str(PARTITIONS),
        "connection.url": postgres.url(),
        "connection.user": USER,
        "connection.password": SECRET,
        "auto.create": "true",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "consumer.override.max.poll.records": "100",
        **delivery,
    }

    def running() -> bool:
        reply = httpx2.get(f"{system.url}/connectors/{name}/status", timeout=60)
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        assert "FAILED" not in [task["state"] for task in tasks], reply.text
        return [task["state"] for task in tasks] == ["RUNNING"] * PARTITIONS

    with psycopg.connect(postgres.conninfo, autocommit=True) as database:

        def rows() -> int:
            if database.execute("SELECT to_regclass(%s)", (f'"{name}"',)).fetchall() == [(None,)]:
                return 0
            return int(database.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0])  # noqa: S608

        httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=90).raise_for_status()
        struck = 0
        for kill in range(KILLS + 1):
            before = kill * RECORDS * PARTITIONS
            produce_rows(kafka, name, range(kill * RECORDS, (kill + 1) * RECORDS))
            wait_until(lambda: rows() > before, 90, "the first of the new rows")  # noqa: B023
            if kill < KILLS:
                system.kill("host")
                struck += rows() < before + RECORDS * PARTITIONS
                wait_until(running, 90, "the tasks run again")
        total = (KILLS + 1) * RECORDS
        wait_until(lambda: rows() >= total * PARTITIONS, 90, "all rows")
        httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()
        statement = f'SELECT part, id, word FROM "{name}" ORDER BY part, id'  # noqa: S608
        found = database.execute(statement).fetchall()

    assert found == [(part, number, word_of(number)) for part in range(PARTITIONS) for number in range(total)]
    assert SECRET not in "".join(system.said)
    assert struck, "no kill came while rows flowed"


def word_of(number: int) -> str | None:
    return f"word\t{number} \\é😀" if number % 3 else None


def produce_rows(bootstrap: str, topic: str, numbers: range) -> None:
    producer = idempotent_producer(bootstrap, {"linger.ms": 20, "log_level": 2})
    for number in numbers:
        for part in range(PARTITIONS):
            payload = {"id": number, "part": part, "word": word_of(number)}
            value = json.dumps({"schema": SCHEMA, "payload": payload})
            producer.produce(topic, value, partition=part)
        producer.poll(0)
    producer.flush(60)
