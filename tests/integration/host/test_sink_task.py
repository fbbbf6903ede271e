"""Sink tasks in a host, on a real Kafka, also with records at the edge of what it holds (I6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import (
    consume_all,
    create_topic,
    headers_in,
    idempotent_producer,
    produce,
    unique,
    wait_until,
)

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FILE, FakeExecutor

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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_topic_that_does_not_exist_fails_the_task(
    executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = unique("missing")
    launch("h")

    ref = executor.start("h", sink(tmp_path / "out", topic), {topic: 1})
    failed = executor.wait_for_state(ref, FAILED, timeout=60)

    assert failed.stage == "START"


JSON = {"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"}
TEN_THOUSAND: list[tuple[str, str | bytes | None]] = [
    (f"h{number % 7}", str(number).encode()) for number in range(10_000)
]
HUGE = b'"' + b"x" * 900_000 + b'"'
POISON = b'{"open":'


@pytest.fixture
def topic(kafka: str) -> str:
    """A topic with a poison record between odd ones."""
    name = create_topic(kafka)
    producer = idempotent_producer(kafka, {"message.max.bytes": 4_000_000})
    producer.produce(name, None, b"tombstone")
    producer.produce(name, b"1", None)
    producer.produce(name, b"2", b"")
    producer.produce(name, b"3", b"many", headers=TEN_THOUSAND)
    producer.produce(name, POISON, b"bad", headers=TEN_THOUSAND)
    producer.produce(name, HUGE, b"huge")
    producer.produce(name, b"", b"empty")
    producer.produce(name, b"4", b"\xff\xfe", headers=[("none", None), ("", b""), ("bytes", b"\xff")])
    assert producer.flush(60) == 0
    return name


def dead_letters(queue: str) -> dict[str, str]:
    return {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def test_odd_records_are_delivered_and_poison_goes_to_the_queue_as_it_was(
    kafka: str, topic: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    path, queue = tmp_path / "out", unique("dead")
    launch("h")

    executor.start("h", sink(path, topic, **JSON, **dead_letters(queue)), {topic: 1})
    executor.wait(lambda: executor.positions.get((topic, 0)) == 8, "the last position")

    assert text(path).splitlines() == ["null", "1", "2", "3", HUGE.decode().strip('"'), "null", "4"]
    (letter,) = consume_all(kafka, queue)
    assert (letter.key(), letter.value()) == (b"bad", POISON)
    headers = headers_in(letter)
    assert headers[: len(TEN_THOUSAND)] == TEN_THOUSAND
    assert dict(headers)["__connect.errors.offset"] == b"4"


def test_without_tolerance_a_poison_record_stops_the_task_before_it(
    topic: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    launch("h")

    ref = executor.start("h", sink(tmp_path / "out", topic, **JSON), {topic: 1})
    failed = executor.wait_for_state(ref, FAILED)

    assert failed.stage == "VALUE_CONVERTER"
    assert "Converting byte[] to Kafka Connect data failed due to serialization error" in failed.trace
    assert executor.positions.get((topic, 0), 0) <= 4


def test_an_empty_topic_is_waited_on(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, path = create_topic(kafka), tmp_path / "out"
    launch("h")
    executor.start("h", sink(path, topic, **JSON), {topic: 1})
    executor.wait(path.exists, "the file that the task opened")

    producer = idempotent_producer(kafka)
    producer.produce(topic, b"7")
    producer.flush(60)

    executor.wait(lambda: text(path) == "7\n", "the first record")
