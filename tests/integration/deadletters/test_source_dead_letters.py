"""Dead letter queues of sources, on a real broker."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, create_topic, headers_in, unique

from tests.integration.emitting.bench import Bench, bench

WHOLE = "org.apache.kafka.connect.transforms.Cast$Value"
NUMBERS = {"transforms": "number", "transforms.number.type": WHOLE, "transforms.number.spec": "int32"}
LETTERS = {
    "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}


@pytest.fixture(scope="module")
def tasks(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Tasks on the session's broker."""
    with bench(kafka, tmp_path_factory.mktemp("letters")) as running:
        yield running


def headers_of(tasks: Bench, topic: str) -> dict[str, str | None]:
    tasks.written(topic, 1)
    (message,) = consume_all(tasks.client["bootstrap.servers"], topic)
    prefix = "__connect.errors."
    return {
        name.removeprefix(prefix): None if value is None else value.decode()
        for name, value in headers_in(message)
    }


def test_a_record_that_fails_is_kept_with_its_context_and_the_others_go_on(tasks: Bench) -> None:
    topic, dead, name = unique("topic"), unique("dead"), unique("tolerant")
    letters = {**LETTERS, "errors.deadletterqueue.topic.name": dead, "errors.tolerance": "all"}
    file = tasks.folder / unique("emit")

    tasks.run(
        f"{topic} 1", f"{topic} two", f"{topic} 3", config={**NUMBERS, **letters, "name": name}, file=file
    )

    assert tasks.written(topic, 2) == ["1", "3"]
    (letter,) = tasks.written(dead, 1)
    assert json.loads(letter)["payload"] == "two"
    assert tasks.created(dead).partitions == 1
    headers = headers_of(tasks, dead)
    stack = headers.pop("exception.stacktrace")
    assert headers.pop("exception.message")
    assert stack is not None
    assert stack.startswith("org.apache.kafka.connect.errors.DataException")
    assert headers == {
        "topic": topic,
        "source.partition": json.dumps({"file": str(file)}),
        "source.offset": json.dumps({"position": len(f"{topic} 1\n{topic} two\n")}),
        "connector.name": name,
        "task.id": "0",
        "stage": "TRANSFORMATION",
        "class.name": WHOLE,
        "exception.class.name": "org.apache.kafka.connect.errors.DataException",
    }


def test_without_tolerance_the_record_is_kept_and_the_task_fails(tasks: Bench) -> None:
    topic, dead = unique("topic"), unique("dead")

    ref = tasks.run(f"{topic} two", config={**NUMBERS, **LETTERS, "errors.deadletterqueue.topic.name": dead})

    assert "Tolerance exceeded in error handler" in tasks.trace(ref)
    assert len(tasks.written(dead, 1)) == 1


def test_a_record_the_broker_refuses_is_kept_as_the_bytes_it_was(tasks: Bench, kafka: str) -> None:
    topic, dead = create_topic(kafka, config={"max.message.bytes": "1000"}), unique("dead")
    large = "x" * 2000
    letters = {**LETTERS, "errors.deadletterqueue.topic.name": dead, "errors.tolerance": "all"}

    file = tasks.folder / unique("emit")

    tasks.run(f"{topic} {large}", config=letters, file=file)

    assert tasks.written(dead, 1) == [large]
    tasks.emit(file, f"{topic} small")
    assert tasks.written(topic, 1) == ["small"]
    assert headers_of(tasks, dead)["stage"] == "KAFKA_PRODUCE"


def test_a_queue_that_cannot_be_created_fails_the_task_with_what_to_do(tasks: Bench) -> None:
    dead = unique("dead")

    ref = tasks.run(
        config={
            "errors.deadletterqueue.topic.name": dead,
            "errors.deadletterqueue.topic.replication.factor": "3",
        }
    )

    trace = tasks.executor.wait_for_state(ref, types_pb2.STATE_FAILED).trace
    assert f"Could not initialize dead letter queue with topic={dead}" in trace
    assert "errors.deadletterqueue.topic.replication.factor=3" in trace
