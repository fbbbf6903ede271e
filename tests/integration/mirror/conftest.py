"""A second broker, and one running Copycat that works on the first: the target of mirrors."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import httpx2
import pytest
from confluent_kafka import Message
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import consume_all, headers_in, idempotent_producer, wait_until
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

BYTES = {
    f"{each}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"
    for each in ("key", "value", "header")
}
SECONDS = 120.0
#: Milliseconds since the epoch. Records must not be old: brokers delete those of more than seven days ago.
NOW = time.time_ns() // 1_000_000

Record = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...], int]
"""Partition, key, value, headers and timestamp."""


@dataclass(frozen=True)
class Pair:
    """A source, a target, and a Copycat that works on the target."""

    source: str
    target: str
    system: CopycatUp

    def config(self, kind: str, source: str, target: str, more: Mapping[str, str]) -> dict[str, str]:
        """Return the configuration of a mirror connector between clusters of these aliases."""
        return {
            "connector.class": f"org.apache.kafka.connect.mirror.Mirror{kind}Connector",
            "source.cluster.alias": source,
            "source.cluster.bootstrap.servers": self.source,
            "target.cluster.alias": target,
            "target.cluster.bootstrap.servers": self.target,
            **{f"{each}replication.factor": "1" for each in FACTORS[kind]},
            **BYTES,
            **more,
        }

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Create or change a connector."""
        reply = httpx2.put(f"{self.system.url}/connectors/{name}/config", json=dict(config), timeout=90)
        assert reply.status_code in (200, 201), reply.text

    def delete(self, name: str) -> None:
        """Delete a connector."""
        httpx2.delete(f"{self.system.url}/connectors/{name}", timeout=90).raise_for_status()

    def runs(self, name: str, tasks: int = 1) -> None:
        """Wait until a connector has so many tasks, all of them running."""

        def running() -> bool:
            reply = httpx2.get(f"{self.system.url}/connectors/{name}/status", timeout=60)
            status = reply.json() if reply.status_code == 200 else {}
            assert "FAILED" not in str(status), reply.text
            return [task["state"] for task in status.get("tasks", ())] == ["RUNNING"] * tasks

        wait_until(running, SECONDS, f"{name} runs with {tasks} tasks")

    def arrives(self, topic: str, count: int) -> list[Record]:
        """Wait until a topic of the target has so many records, and return what it has then."""
        wait_until(lambda: len(consumed(self.target, topic)) >= count, SECONDS, f"{count} records in {topic}")
        return consumed(self.target, topic)


FACTORS = {
    "Source": ("", "offset-syncs.topic."),
    "Checkpoint": ("checkpoints.topic.",),
    "Heartbeat": ("heartbeats.topic.",),
}


def consumed(bootstrap: str, topic: str) -> list[Record]:
    """Return a topic's committed records, by partition and offset; none where there is no topic yet."""
    try:
        messages = consume_all(bootstrap, topic)
    except KeyError:
        return []
    return [record_of(message) for message in sorted(messages, key=_place)]


def record_of(message: Message) -> Record:
    """Return what must stay as it is."""
    headers = tuple(headers_in(message))
    return message.partition() or 0, message.key(), message.value(), headers, message.timestamp()[1]


def write(bootstrap: str, topic: str, records: Iterable[Record], **settings: str) -> None:
    """Write records exactly so."""
    producer = idempotent_producer(bootstrap, {"linger.ms": 5, **settings})
    for partition, key, value, headers, timestamp in records:
        producer.produce(
            topic, value, key, partition=partition, timestamp=timestamp, headers=list(headers) or None
        )
        producer.poll(0)
    assert producer.flush(60) == 0


def _place(message: Message) -> tuple[int, int]:
    return message.partition() or 0, message.offset() or 0


@pytest.fixture(scope="package")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the cluster that is mirrored, and give its address."""
    with EmbeddedKafka(tmp_path_factory.mktemp("source")) as broker:
        yield broker.bootstrap


@pytest.fixture(scope="package")
def pair(source: str, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Run Copycat on the target, and give how to talk to all three."""
    with CopycatUp(tmp_path_factory.mktemp("mirror"), kafka, environment=on_plain_hosts()) as system:
        yield Pair(source, kafka, system)
