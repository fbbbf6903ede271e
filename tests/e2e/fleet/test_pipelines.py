"""Data through containers: databases, stores of objects and other topics, each record counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import boto3
import psycopg
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import consume_all, produce, unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres, running_postgres
from copycat_testkit.s3 import REGION, S3Server
from copycat_testkit.wire import Wire

from tools.containers.fleet import Fleet

pytestmark = pytest.mark.timeout(1800, func_only=True)
ROWS = 500
SECONDS = 180.0
JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


@pytest.fixture
def postgres(fleet: Fleet) -> Iterator[tuple[Postgres, str]]:
    """Run a database, with the address at which containers reach it."""
    port = free_ports(1)[0]
    with running_postgres() as server, Wire(port, server.port, fleet.outside_address) as wire:
        yield server, f"jdbc:postgresql://{wire.address}/postgres"


@pytest.fixture
def store(fleet: Fleet, tmp_path: Path) -> Iterator[tuple[S3Server, str]]:
    """Run S3 as moto simulates it, with the address at which containers reach it."""
    port = free_ports(1)[0]
    with S3Server(tmp_path / "s3.log") as server:
        target = int(server.url.rpartition(":")[2])
        with Wire(port, target, fleet.outside_address) as wire:
            yield server, f"http://{wire.address}"


def test_rows_go_from_one_table_into_another(fleet: Fleet, postgres: tuple[Postgres, str]) -> None:
    server, url = postgres
    login = {"connection.url": url, "connection.user": USER, "connection.password": SECRET}
    name = unique("orders")
    with psycopg.connect(server.conninfo, autocommit=True) as database:
        database.execute("CREATE TABLE orders (id serial PRIMARY KEY, word text NOT NULL)")
        database.execute("INSERT INTO orders (word) SELECT 'w' || n FROM generate_series(1, %s) n", (ROWS,))
        fleet.create(
            f"{name}-source",
            {
                **login,
                **JSON,
                "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
                "mode": "incrementing",
                "incrementing.column.name": "id",
                "table.whitelist": "orders",
                "topic.prefix": "from_",
                "poll.interval.ms": "200",
            },
        )
        fleet.create(
            f"{name}-sink",
            {
                **login,
                **JSON,
                "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
                "topics": "from_orders",
                "insert.mode": "upsert",
                "pk.mode": "record_value",
                "pk.fields": "id",
                "auto.create": "true",
            },
        )

        def copied() -> bool:
            exists = database.execute("SELECT to_regclass(%s)", ("from_orders",)).fetchone()
            if exists is None or exists[0] is None:
                return False
            found = database.execute("SELECT id, word FROM from_orders ORDER BY id").fetchall()
            return found == [(number, f"w{number}") for number in range(1, ROWS + 1)]

        wait_until(copied, SECONDS, f"every row is copied; {fleet.status(f'{name}-sink')}")
    fleet.delete(f"{name}-source", f"{name}-sink")


def test_records_go_into_objects_of_s3(fleet: Fleet, store: tuple[S3Server, str]) -> None:
    server, url = store
    name, key = unique("objects"), "test"
    client = boto3.client(
        "s3", endpoint_url=server.url, region_name=REGION, aws_access_key_id=key, aws_secret_access_key=key
    )
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    produce(fleet.brokers.outside, name, [json.dumps({"n": n}).encode() for n in range(ROWS)])
    fleet.create(
        name,
        {
            "connector.class": "io.confluent.connect.s3.S3SinkConnector",
            "topics": name,
            "store.url": url,
            "s3.bucket.name": name,
            "s3.region": REGION,
            "aws.access.key.id": key,
            "aws.secret.access.key": key,
            "storage.class": "io.confluent.connect.s3.storage.S3Storage",
            "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
            "flush.size": "100",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        },
    )

    def numbers() -> list[int]:
        listed = client.list_objects_v2(Bucket=name).get("Contents", [])
        texts = [client.get_object(Bucket=name, Key=each["Key"])["Body"].read() for each in listed]
        return sorted(json.loads(line)["n"] for text in texts for line in text.splitlines())

    wait_until(
        lambda: numbers() == list(range(ROWS)), SECONDS, f"every record is there; {fleet.status(name)}"
    )
    fleet.delete(name)


def test_a_topic_is_mirrored_byte_for_byte(fleet: Fleet) -> None:
    topic = unique("mirrored")
    values = [f"value {number}".encode() for number in range(ROWS)]
    produce(fleet.brokers.outside, topic, values)
    fleet.create(
        topic,
        {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "source.cluster.alias": "here",
            "target.cluster.alias": "there",
            "source.cluster.bootstrap.servers": fleet.brokers.inside,
            "target.cluster.bootstrap.servers": fleet.brokers.inside,
            "topics": topic,
            "sync.topic.acls.enabled": "false",
            "key.converter": BYTES,
            "value.converter": BYTES,
            "header.converter": BYTES,
        },
    )

    def copied() -> list[bytes]:
        return sorted(
            message.value() or b"" for message in consume_all(fleet.brokers.outside, f"here.{topic}")
        )

    fleet.worker_of(topic)
    wait_until(
        lambda: copied() == sorted(values), SECONDS, f"every record is mirrored; {fleet.status(topic)}"
    )
    fleet.delete(topic)
