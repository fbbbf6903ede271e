"""Records of a topic in a table of a real PostgreSQL, through a whole system whose task hosts are killed."""

from __future__ import annotations

import json

import httpx2
import psycopg
import pytest
from copycat_testkit.kafka import create_topic, idempotent_producer, unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

KILLS = 2
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
