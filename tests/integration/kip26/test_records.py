"""Records are changed on the way, their work is divided by itself, and each kind of data has its store."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource
from confluent_kafka.cimpl import NewPartitions
from copycat_client.client import CopycatClient
from copycat_client.offsets import Position
from copycat_connect.cluster import TargetState, sink_group
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, produce, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.world import (
    SECONDS,
    Workers,
    arrived,
    assigned,
    folder_source,
    runs,
    status_of,
    until,
    write_files,
)

pytestmark = pytest.mark.timeout(240)

PARTITIONS, LATER = 100, 10
EACH = 5
"""Records of a partition."""


def produce_numbers(kafka: str, topic: str, partitions: Iterable[int], what: str) -> set[str]:
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
    wanted = produce_numbers(kafka, topic, range(PARTITIONS), "first")
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
    wanted |= produce_numbers(kafka, topic, range(PARTITIONS + LATER), "second")
    await lines_are(tmp_path / "out", wanted)
    await runs(copycat, name, 4)
    assert newcomer not in {each.worker_id for each in (await assigned(copycat, name)).values()}


def newest(kafka: str, topic: str, of: str) -> dict[str, Any]:
    """Return the newest value of every key that names a connector."""
    records = ((message.key() or b"", message.value()) for message in consume_all(kafka, topic))
    return {key.decode(): json.loads(value) for key, value in records if of.encode() in key and value}


@pytest.mark.row("K26-48")
async def test_k26_44_configurations_tasks_offsets_and_statuses_are_read_from_their_topics(
    copycat: CopycatClient, kafka: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    name = unique("stored")
    config = folder_source(name, tmp_path)
    await copycat.configs.put(name, config)
    await runs(copycat, name, 1)
    await arrived(copycat, kafka, name, "a")

    async def committed() -> bool:
        return bool(await copycat.offsets.list_source(name))

    await until(committed, "an offset")
    configs = newest(kafka, "kip26-configs", name)
    assert configs[f"connector-{name}"] == {"properties": config}
    assert configs[f"task-{name}-0"]["properties"]["files"] == "a.txt"
    assert configs[f"commit-{name}"] == {"tasks": 1}
    offsets = newest(kafka, "kip26-offsets", name)
    assert offsets == {f'["{name}",{{"file":"a.txt"}}]': {"lines": 1}}
    statuses = newest(kafka, "kip26-status", name)
    assert {key: value["state"] for key, value in statuses.items() if "topic" not in key} == {
        f"status-connector-{name}": "RUNNING",
        f"status-task-{name}-0": "RUNNING",
    }


async def test_k26_48_a_sink_leaves_its_progress_to_its_consumer_group(
    copycat: CopycatClient, kafka: str, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"one", b"two"])
    name = unique("sink")
    config = {"connector.class": "FileStreamSink", "file": str(tmp_path / "out"), "topics": topic}
    await copycat.configs.put(name, {**config, "name": name})

    async def committed() -> bool:
        return await copycat.offsets.list_sink(sink_group(name)) == (Position(topic, 0, 2),)

    await until(committed, "the group's position")
    member = Consumer({"bootstrap.servers": kafka, "group.id": f"connect-{name}"})
    try:
        (seen,) = member.committed([TopicPartition(topic, 0)], timeout=20)
        assert seen.offset == 2
    finally:
        member.close()
    assert newest(kafka, "kip26-offsets", name) == {}


async def test_k26_29_a_sink_that_keeps_its_own_offsets_goes_by_them_alone(
    copycat: CopycatClient, kafka: str, tmp_path: Path
) -> None:
    topic, name, out = create_topic(kafka), unique("own"), tmp_path / "out"
    produce(kafka, topic, [b"one", b"two", b"three"])
    config = {"connector.class": "author.OwnOffsetsSinkConnector", "file": str(out), "topics": topic}
    await copycat.configs.put(name, {**config, "name": name})
    lines = [f"{topic} 0 {offset} {value}" for offset, value in enumerate(("one", "two", "three", "four"))]

    def holds(count: int) -> bool:
        return out.exists() and out.read_text().splitlines() == lines[:count]

    await until(lambda: asyncio.to_thread(holds, 3), "three lines")
    await runs(copycat, name, 1)
    await copycat.configs.set_target_state(name, TargetState.STOPPED)

    async def stopped() -> bool:
        status = await status_of(copycat, name)
        held = [each for worker in await copycat.scheduler.workers() for each in worker.held]
        return (
            status.status is not None and not status.tasks and not [each for each in held if each.task == 0]
        )

    await until(stopped, "the end of the task")
    assert await copycat.offsets.list_sink(sink_group(name)) == ()

    out.write_text("".join(f"{line}\n" for line in lines[:2]))  # the store lost a record
    admin = AdminClient({"bootstrap.servers": kafka})
    misleading = ConsumerGroupTopicPartitions(f"connect-{name}", [TopicPartition(topic, 0, 3)])
    (altered,) = admin.alter_consumer_group_offsets([misleading]).values()
    assert altered.result(60).topic_partitions[0].error is None
    produce(kafka, topic, [b"four"])
    await copycat.configs.set_target_state(name, TargetState.STARTED)

    await until(lambda: asyncio.to_thread(holds, 4), "every record once, from where the file ends")


PATIENCE = 240
"""Seconds for a hundred thousand records, on a machine that is busy with other tests."""
BYTES_OF_A_PARTITION = 8192
"""In all processes together: a fold of the offsets each in the service and its views, and a task's batch."""
METRICS = 100
"""Metrics of a host, as the author's connector has them."""


@pytest.mark.timeout(600)
@pytest.mark.long
async def test_k26_18_a_hundred_thousand_partitions_go_on_each_from_its_own_offset(
    copycat: CopycatClient, cluster: CopycatUp, kafka: str
) -> None:
    topic, name, hosts = create_topic(kafka), unique("metrics"), 1000
    config = {"connector.class": "author.MetricsSourceConnector", "hosts": str(hosts), "topic": topic}
    await copycat.configs.put(name, {**config, "name": name})

    def times() -> list[Counter[int]]:
        """Return how many metrics each time has."""
        found: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for message in consume_all(kafka, topic):
            metric, _, time = (message.value() or b"").decode().rpartition(" ")
            found[int(time)][metric] += 1
        return [Counter(found[time].values()) for time in sorted(found)]

    once, every, before = Counter({1: hosts * METRICS}), hosts * METRICS, memory(cluster)
    await asyncio.to_thread(wait_until, lambda: times() == [once], PATIENCE, "each metric once")
    async with httpx2.AsyncClient(base_url=cluster.url, timeout=90) as rest:
        await rest.put(f"/connectors/{name}/stop")
        await until(lambda: stopped(rest, name), "the connector is stopped")
        # A commit of so many outlives the task that made it.
        await until(lambda: shown(rest, name, every, 0), "every offset is committed")
        await rest.put(f"/connectors/{name}/resume")
        await asyncio.to_thread(wait_until, lambda: times() == [once] * 2, PATIENCE, "each metric once again")
        await until(lambda: shown(rest, name, every, 1), "every offset is committed again")
    cluster.kill("host")
    await asyncio.to_thread(wait_until, lambda: times() == [once] * 3, PATIENCE, "each metric after a kill")
    assert memory(cluster) - before < every * BYTES_OF_A_PARTITION


async def shown(rest: httpx2.AsyncClient, name: str, count: int, time: int) -> bool:
    """Return whether so many partitions are at a time."""
    offsets = (await rest.get(f"/connectors/{name}/offsets")).json()["offsets"]
    assert {each["offset"]["time"] for each in offsets} <= {time - 1, time}
    return [each["offset"]["time"] for each in offsets] == [time] * count


def memory(cluster: CopycatUp) -> int:
    """Return how many bytes its processes hold together, what they share counted once."""
    found = psutil.Process(cluster.pid).children(recursive=True)
    return sum(each.memory_full_info().pss for each in found if each.is_running())


async def stopped(rest: httpx2.AsyncClient, name: str) -> bool:
    """Return whether a connector is stopped and its tasks are gone."""
    status = (await rest.get(f"/connectors/{name}/status")).json()
    return bool(status["connector"]["state"] == "STOPPED" and not status["tasks"])
