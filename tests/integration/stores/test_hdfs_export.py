"""Topics in HDFS as KIP-26 describes the export: by a pattern, on three workers, and by its own sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from copycat_embedded.ports import free_ports
from copycat_objects.stores.store import Store
from copycat_testkit.commands import Commands
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.kafka import create_topic, produce, unique, wait_until
from copycat_testkit.system import CopycatUp

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
