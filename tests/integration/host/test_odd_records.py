"""Records at the edge of what Kafka holds: each is delivered, reported or stops the task (I6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_testkit.kafka import consume_all, create_topic, headers_in, idempotent_producer, unique

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FakeExecutor
from tests.integration.host.test_sink_task import FAILED, sink, text

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
