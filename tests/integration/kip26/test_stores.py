"""What is stored where: every kind of data in its topic, sinks in their groups (K26-44, 48)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from copycat_client.client import CopycatClient
from copycat_client.offsets import Position
from copycat_connect.cluster import TargetState, sink_group
from copycat_testkit.kafka import consume_all, create_topic, produce, unique

from tests.integration.kip26.world import arrived, folder_source, runs, status_of, until, write_files

pytestmark = pytest.mark.timeout(240)


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
