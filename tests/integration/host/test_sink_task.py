"""Sink tasks in a host, on a real Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FILE, FakeExecutor

pytestmark = pytest.mark.long

RUNNING, FAILED, UNASSIGNED = types_pb2.STATE_RUNNING, types_pb2.STATE_FAILED, types_pb2.STATE_UNASSIGNED


def sink(path: Path, *topics: str, **more: str) -> dict[str, str]:
    return {
        "name": unique("lines"),
        "connector.class": f"{FILE}SinkConnector",
        "file": str(path),
        "topics": ",".join(topics),
        **more,
    }


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_records_reach_the_file_and_the_position_is_committed(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [f"line {number}".encode() for number in range(5000)])
    path = tmp_path / "out"
    launch("h")

    ref = executor.start("h", sink(path, topic), {topic: 1})
    executor.wait_for_state(ref, RUNNING)
    executor.wait(lambda: executor.positions.get((topic, 0)) == 5000, "the last position")

    assert text(path).splitlines() == [f"line {number}" for number in range(5000)]
    assert executor.topics == [topic]
    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)


def test_all_partitions_of_all_topics_are_read(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    one, two = create_topic(kafka, partitions=3), create_topic(kafka)
    for key in (b"a", b"b", b"c", b"d"):
        produce(kafka, one, [key * 3], key)
    produce(kafka, two, [b"x"])
    path = tmp_path / "out"
    launch("h")

    executor.start("h", sink(path, one, two), {one: 3, two: 1})
    executor.wait(lambda: sum(executor.positions.values()) == 5, "all positions")

    assert sorted(text(path).split()) == ["aaa", "bbb", "ccc", "ddd", "x"]
    assert sorted(executor.topics) == sorted([one, two])


def test_a_task_continues_where_it_was_drained(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = tmp_path / "out"
    config = sink(path, topic)
    produce(kafka, topic, [b"one"])
    launch("h")
    ref = executor.start("h", config, {topic: 1})
    executor.wait(lambda: executor.positions, "a commit")
    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)

    produce(kafka, topic, [b"two"])
    executor.start("h", config, {topic: 1})
    executor.wait(lambda: executor.positions[topic, 0] == 2, "the last position")

    assert text(path) == "one\ntwo\n"


@pytest.mark.row("K26-28")
def test_a_drained_task_commits_what_it_wrote_last(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    executor.worker["offset.flush.interval.ms"] = "600000"
    topic = create_topic(kafka)
    produce(kafka, topic, [b"one"])
    path = tmp_path / "out"
    launch("h")
    ref = executor.start("h", sink(path, topic), {topic: 1})
    executor.wait(lambda: executor.positions, "the eager commit")
    produce(kafka, topic, [b"two"])
    executor.wait(lambda: text(path) == "one\ntwo\n", "the second line")
    assert executor.positions == {(topic, 0): 1}

    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)

    assert executor.positions == {(topic, 0): 2}


def test_a_paused_task_writes_nothing_until_it_is_resumed(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"one"])
    path = tmp_path / "out"
    launch("h")
    ref = executor.start("h", sink(path, topic), {topic: 1}, paused=True)
    executor.wait_for_state(ref, types_pb2.STATE_PAUSED)
    beats = executor.hosts["h"].beats
    executor.wait(lambda: executor.hosts["h"].beats >= beats + 2, "two beats")
    assert text(path) == ""

    resumed = pb.SetTaskState(task=ref, target_state=types_pb2.TARGET_STATE_STARTED)
    executor.send("h", pb.AttachResponse(set_task_state=resumed))

    executor.wait_for_state(ref, RUNNING)
    executor.wait(lambda: text(path) == "one\n", "the line")


def test_a_task_may_begin_where_it_likes(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"one", b"two", b"three"])
    path = tmp_path / "out"
    launch("h")

    executor.start("h", sink(path, topic) | {"connector.class": "author.Rewinding"}, {topic: 1})
    executor.wait(lambda: text(path) == "two\nthree\n", "the lines")

    executor.wait(lambda: executor.positions == {(topic, 0): 3}, "the last position")


def test_a_record_that_cannot_be_transformed_goes_to_the_dead_letter_queue(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, dead = create_topic(kafka), unique("dead")
    produce(kafka, topic, [b"12", b"no number", b"34"])
    errors = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
        "transforms": "numbers",
        "transforms.numbers.type": "author.Numbers",
    }
    path = tmp_path / "out"
    launch("h")

    executor.start("h", sink(path, topic, **errors), {topic: 1})
    executor.wait(lambda: executor.positions.get((topic, 0)) == 3, "the last position")

    assert text(path) == "12\n34\n"
    (letter,) = consume_all(kafka, dead)
    assert letter.value() == b"no number"
    headers = dict(letter.headers() or [])
    assert headers["__connect.errors.stage"] == b"TRANSFORMATION"
    assert headers["__connect.errors.offset"] == b"1"


def test_the_record_that_fails_the_task_is_in_the_dead_letter_queue(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, dead = create_topic(kafka), unique("dead")
    produce(kafka, topic, [b"no number"])
    errors = {
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "transforms": "numbers",
        "transforms.numbers.type": "author.Numbers",
    }
    launch("h")

    ref = executor.start("h", sink(tmp_path / "out", topic, **errors), {topic: 1})
    executor.wait_for_state(ref, FAILED)

    (letter,) = wait_until(lambda: consume_all(kafka, dead), what="the letter")
    assert letter.value() == b"no number"


def test_a_topic_that_does_not_exist_fails_the_task(
    executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = unique("missing")
    launch("h")

    ref = executor.start("h", sink(tmp_path / "out", topic), {topic: 1})
    failed = executor.wait_for_state(ref, FAILED, timeout=60)

    assert failed.stage == "START"
