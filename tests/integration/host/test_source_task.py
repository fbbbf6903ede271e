"""Source tasks in a host, on a real Kafka."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, create_topic, unique

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FILE, FakeExecutor

pytestmark = pytest.mark.long

RUNNING, PAUSED = types_pb2.STATE_RUNNING, types_pb2.STATE_PAUSED
FAILED, UNASSIGNED = types_pb2.STATE_FAILED, types_pb2.STATE_UNASSIGNED


def source(path: Path, topic: str, **more: str) -> dict[str, str]:
    return {
        "name": unique("lines"),
        "connector.class": f"{FILE}SourceConnector",
        "file": str(path),
        "topic": topic,
        **more,
    }


def write(path: Path, *lines: str) -> Path:
    with path.open("a") as out:
        out.writelines(f"{line}\n" for line in lines)
    return path


def values(kafka: str, topic: str) -> list[str]:
    return [(message.value() or b"").decode() for message in consume_all(kafka, topic)]


def partition_of(path: Path) -> bytes:
    return json.dumps({"filename": str(path)}, separators=(",", ":")).encode()


def test_lines_reach_the_topic_in_order_and_their_offset_is_committed(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    lines = [f"line {number}" for number in range(5000)]
    path = write(tmp_path / "in", *lines)
    launch("h")

    ref = executor.start("h", source(path, topic))
    executor.wait_for_state(ref, RUNNING)
    size = f'{{"position":{path.stat().st_size}}}'.encode()
    executor.wait(lambda: executor.offsets.get(partition_of(path)) == size, "the last offset")

    assert values(kafka, topic) == lines
    assert executor.topics == [topic]
    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)


def test_a_task_continues_where_it_was_drained(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = write(tmp_path / "in", "one", "two")
    config = source(path, topic)
    launch("h")
    ref = executor.start("h", config)
    executor.wait(lambda: executor.offsets, "a commit")
    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)

    write(path, "three")
    ref = executor.start("h", config)
    size = f'{{"position":{path.stat().st_size}}}'.encode()
    executor.wait(lambda: executor.offsets[partition_of(path)] == size, "the last offset")

    assert values(kafka, topic) == ["one", "two", "three"]


def test_a_paused_task_moves_nothing_until_it_is_resumed(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = write(tmp_path / "in", "one")
    launch("h")
    ref = executor.start("h", source(path, topic), paused=True)
    executor.wait_for_state(ref, PAUSED)
    assert values(kafka, topic) == []

    resumed = pb.SetTaskState(task=ref, target_state=types_pb2.TARGET_STATE_STARTED)
    executor.send("h", pb.AttachResponse(set_task_state=resumed))
    executor.wait_for_state(ref, RUNNING)
    executor.wait(lambda: executor.offsets, "a commit")

    assert values(kafka, topic) == ["one"]


def test_a_connector_that_is_not_installed_fails_the_task_with_a_trace(
    executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    launch("h")

    ref = executor.start("h", source(tmp_path / "in", "t") | {"connector.class": "NoSuch"})
    failed = executor.wait_for_state(ref, FAILED)

    assert failed.stage == "START"
    assert "Failed to find any class that implements Connector" in failed.trace
    assert "\n\tat " in failed.trace


def test_a_topic_is_created_by_the_connectors_rules(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = unique("made")
    rules = {
        "topic.creation.default.partitions": "3",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.retention.ms": "123456789",
    }
    launch("h")

    executor.start("h", source(write(tmp_path / "in", "one"), topic, **rules))
    executor.wait(lambda: executor.offsets, "a commit")

    described = AdminClient({"bootstrap.servers": kafka}).list_topics(topic, timeout=10).topics[topic]
    assert len(described.partitions) == 3


def test_a_secret_is_resolved_where_the_task_runs(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    secrets = write(tmp_path / "secrets.properties", f"topic={topic}")
    executor.worker |= {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    launch("h")

    executor.start("h", source(write(tmp_path / "in", "one"), f"${{file:{secrets}:topic}}"))
    executor.wait(lambda: executor.offsets, "a commit")

    assert values(kafka, topic) == ["one"]


def test_a_record_kafka_refuses_fails_the_task_and_its_offset_is_not_committed(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka, config={"max.message.bytes": "1000"})
    launch("h")

    ref = executor.start("h", source(write(tmp_path / "in", "x" * 5000), topic))
    failed = executor.wait_for_state(ref, FAILED)

    assert failed.stage == "PRODUCE"
    assert "Unrecoverable exception from producer send callback" in failed.trace
    assert executor.offsets == {}


def test_a_task_of_a_stale_generation_ends(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    executor.stale = True
    launch("h")

    ref = executor.start("h", source(write(tmp_path / "in", "one"), create_topic(kafka)))

    executor.wait_for_state(ref, UNASSIGNED)
    assert executor.offsets == {}
