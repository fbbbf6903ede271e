"""Records are changed a little on the way, and the work is divided by itself (K26-02, 04, 11, 95)."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource
from confluent_kafka.cimpl import NewPartitions
from copycat_client.client import CopycatClient
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, unique, wait_until

from tests.integration.kip26.more_workers import Workers
from tests.integration.kip26.world import SECONDS, assigned, runs, until

pytestmark = pytest.mark.timeout(240)

PARTITIONS, LATER = 100, 10
EACH = 5
"""Records of a partition."""


def produce(kafka: str, topic: str, partitions: Iterable[int], what: str) -> set[str]:
    """Write some records to each partition; returns their texts."""
    producer = idempotent_producer(kafka)
    texts = {(part, f"{what} {part} {number}") for part in partitions for number in range(EACH)}
    for part, text in texts:
        producer.produce(topic, text, partition=part)
    assert producer.flush(60) == 0
    return {text for _, text in texts}


def sink(name: str, topic: str, file: Path, **more: str) -> dict[str, str]:
    """Return a sink of lines."""
    keys = {key.replace("__", "."): value for key, value in more.items()}
    return {"name": name, "connector.class": "FileStreamSink", "topics": topic, "file": str(file), **keys}


def lines_of(file: Path) -> set[str]:
    """Return the lines that a file has so far."""
    return set(file.read_text().splitlines()) if file.exists() else set()


async def lines_are(file: Path, wanted: Iterable[str]) -> None:
    """Wait until a file has these lines; delivered at least once, they may be there several times."""
    expected = set(wanted)
    what = f"{len(expected)} lines in {file.name}"
    await asyncio.to_thread(wait_until, lambda: lines_of(file) == expected, SECONDS, what)


async def test_k26_02_fields_are_dropped_and_obscured_where_asked_for_and_nothing_else_changes(
    copycat: CopycatClient, kafka: str, tmp_path: Path
) -> None:
    topic = create_topic(kafka, unique("cards"))
    text = json.dumps({"id": 1, "card": "4111", "note": "gift"})
    producer = idempotent_producer(kafka)
    producer.produce(topic, text)
    assert producer.flush(60) == 0
    package = "org.apache.kafka.connect.transforms"
    changed = sink(
        unique("changed"), topic, tmp_path / "changed",
        value__converter="org.apache.kafka.connect.json.JsonConverter",
        value__converter__schemas__enable="false",
        transforms="drop,mask",
        transforms__drop__type=f"{package}.ReplaceField$Value", transforms__drop__exclude="note",
        transforms__mask__type=f"{package}.MaskField$Value", transforms__mask__fields="card",
    )  # fmt: skip
    as_it_is = sink(unique("plain"), topic, tmp_path / "plain")
    for config in (changed, as_it_is):
        await copycat.configs.put(config["name"], config)

    await lines_are(tmp_path / "changed", ["{id=1, card=}"])
    await lines_are(tmp_path / "plain", [text])


async def test_k26_04_one_limit_of_tasks_is_all_that_parallelism_takes(
    copycat: CopycatClient, kafka: str
) -> None:
    for tasks in (1, 4):
        name = unique("made-up")
        config = {
            "name": name,
            "connector.class": "DatagenSource",
            "tasks.max": str(tasks),
            "streams": "4",
            "topic": name,
            "fields": '[{"name": "id", "type": "sequence"}]',
            "throughput": "-1",
            "max.records": "10000",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }
        await copycat.configs.put(name, config)
        await runs(copycat, name, tasks)

        async def complete(topic: str = name) -> bool:
            found = await asyncio.to_thread(consume_all, kafka, topic)
            return sorted(json.loads(each.value() or b"{}")["id"] for each in found) == [*range(10_000)]

        await until(complete, f"every record once, by {tasks} tasks")


async def test_k26_04_four_tasks_move_more_than_one(copycat: CopycatClient, kafka: str) -> None:
    names = {tasks: unique("paced") for tasks in (1, 4)}
    for tasks, name in names.items():
        config = {
            "name": name,
            "connector.class": "DatagenSource",
            "tasks.max": str(tasks),
            "streams": "4",
            "topic": create_topic(kafka, name),
            "fields": '[{"name": "id", "type": "sequence"}]',
            "throughput": "100",  # of a task: its system gives no more
        }
        await copycat.configs.put(name, config)
    for tasks, name in names.items():
        await runs(copycat, name, tasks)

    async def moved(tasks: int) -> int:
        return len(await asyncio.to_thread(consume_all, kafka, names[tasks]))

    before = {tasks: await moved(tasks) for tasks in names}

    async def more_by_four() -> bool:
        by_four = await moved(4) - before[4]
        return by_four > await moved(1) - before[1] > 200

    await until(more_by_four, "four tasks have moved more since both run")


async def test_k26_11_what_was_there_before_is_as_it_was(
    copycat: CopycatClient, kafka: str, tmp_path: Path
) -> None:
    own = {"retention.ms": "123456789", "segment.ms": "98765432", "max.message.bytes": "77777"}
    topic = create_topic(kafka, unique("before"), 3, own)
    create_topic(kafka, unique("beside"))
    before = await asyncio.to_thread(settings_of, kafka)
    lines = tmp_path / "in.txt"
    lines.write_text("".join(f"line {number}\n" for number in range(100)))
    name = unique("source")
    source = {"name": name, "connector.class": "FileStreamSource", "file": str(lines), "topic": topic}
    for config in (source, sink(unique("sink"), topic, tmp_path / "out", tasks__max="2")):
        await copycat.configs.put(config["name"], config)

    await lines_are(tmp_path / "out", lines.read_text().splitlines())

    after = await asyncio.to_thread(settings_of, kafka)
    assert {key: after.get(key) for key in before} == before


def settings_of(kafka: str) -> dict[str, object]:
    """Return the settings of each broker and topic, and the partitions of each topic with their replicas."""
    admin = AdminClient({"bootstrap.servers": kafka})
    metadata = admin.list_topics(timeout=60)
    names = [(ConfigResource.Type.TOPIC, each) for each in metadata.topics]
    names += [(ConfigResource.Type.BROKER, str(each)) for each in metadata.brokers]
    asked = admin.describe_configs([ConfigResource(kind, each) for kind, each in names])
    found: dict[str, object] = {
        f"{resource.restype.name} {resource.name}": {
            entry.name: (entry.value, entry.source) for entry in answer.result(60).values()
        }
        for resource, answer in asked.items()
    }
    for each in metadata.topics.values():
        found[f"partitions of {each.topic}"] = {part.id: part.replicas for part in each.partitions.values()}
    return found


async def test_k26_95_partitions_are_divided_among_the_tasks_of_a_sink_also_when_they_come_and_workers_go(
    copycat: CopycatClient, kafka: str, more: Workers, tmp_path: Path
) -> None:
    name, topic = unique("many"), create_topic(kafka, unique("many"), PARTITIONS)
    wanted = produce(kafka, topic, range(PARTITIONS), "first")
    executor, newcomer = more.executor()

    async def joined() -> bool:
        return len(await copycat.scheduler.workers()) == 4

    await until(joined, "four workers")
    config = sink(
        name, topic, tmp_path / "out", tasks__max="4", consumer__override__metadata__max__age__ms="1000"
    )
    await copycat.configs.put(name, config)
    await runs(copycat, name, 4)
    assert newcomer in {each.worker_id for each in (await assigned(copycat, name)).values()}
    await lines_are(tmp_path / "out", wanted)

    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_partitions([NewPartitions(topic, PARTITIONS + LATER)])[topic].result(60)
    await asyncio.to_thread(executor.end, signal.SIGKILL)
    wanted |= produce(kafka, topic, range(PARTITIONS + LATER), "second")
    await lines_are(tmp_path / "out", wanted)
    await runs(copycat, name, 4)
    assert newcomer not in {each.worker_id for each in (await assigned(copycat, name)).values()}
