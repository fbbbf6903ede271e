"""Former tasks of exactly-once sources on a real broker: fenced by the config service (KIP-618)."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.config.delivery import transactional_id
from copycat_eventlog.producers import SILENT
from copycat_testkit.kafka import consume_all, create_topic

from tests.integration.config.service import publish, records, running, settings

pytestmark = pytest.mark.long

FENCE = pb.FenceTasksRequest(connector="orders")
SECONDS = 60.0


class Task:
    """A source task's producer, with a transaction that it has begun."""

    def __init__(self, kafka: str, group: str, number: int, topic: str) -> None:
        self.value = f"of task {number}".encode()
        self._producer = Producer({
            "bootstrap.servers": kafka,
            "transactional.id": transactional_id(group, "orders", number),
        }, logger=SILENT)  # fmt: skip
        self._producer.init_transactions(SECONDS)
        self._producer.begin_transaction()
        self._producer.produce(topic, self.value)
        assert self._producer.flush(SECONDS) == 0

    def fenced(self) -> bool:
        """Commit; return whether that is refused since another producer has begun with the id."""
        try:
            self._producer.commit_transaction(SECONDS)
        except KafkaException as error:
            return bool(error.args[0].code() == KafkaError._FENCED)
        return False


def visible(kafka: str, topic: str) -> set[bytes | None]:
    """Return what a reader of committed records sees."""
    return {message.value() for message in consume_all(kafka, topic)}


async def test_a_zombie_with_an_open_transaction_cannot_commit_once_it_is_fenced(kafka: str) -> None:
    properties, topic = settings(kafka), create_topic(kafka)
    async with running(properties) as stub:
        await publish(stub, 3)
        await stub.FenceTasks(FENCE, timeout=SECONDS)
        zombies = [await asyncio.to_thread(Task, kafka, properties["group.id"], n, topic) for n in range(3)]
        await publish(stub, 2)

        answer = await stub.FenceTasks(FENCE, timeout=SECONDS)
        heirs = [await asyncio.to_thread(Task, kafka, properties["group.id"], n, topic) for n in range(2)]
        again = await stub.FenceTasks(FENCE, timeout=SECONDS)

    assert (answer.fenced, answer.task_generation, again.fenced) == (3, 1, 0)
    assert [zombie.fenced() for zombie in zombies] == [True] * 3
    assert [heir.fenced() for heir in heirs] == [False] * 2
    assert visible(kafka, topic) == {b"of task 0", b"of task 1"}
    assert len(consume_all(kafka, topic)) == 2


async def test_task_sets_that_grow_and_shrink_are_recorded_as_kafka_connect_records_them(kafka: str) -> None:
    properties, topic = settings(kafka), create_topic(kafka)
    group, fenced = properties["group.id"], []
    async with running(properties) as stub:
        last: list[Task] = []
        for size in (3, 5, 1, 5, 3):
            await publish(stub, size)
            fenced.append((await stub.FenceTasks(FENCE, timeout=SECONDS)).fenced)
            assert [task.fenced() for task in last] == [True] * len(last)
            last = [await asyncio.to_thread(Task, kafka, group, n, topic) for n in range(size)]
        await stub.DeleteConnector(pb.DeleteConnectorRequest(name="orders"))

    written = records(kafka, properties["config.storage.topic"])
    keys = [key for key, _ in written]
    counts = [value for key, value in written if key == "tasks-fencing-orders"]
    assert fenced == [0, 3, 5, 1, 5]
    assert counts == [f'{{"task-count":{size}}}' for size in (3, 5, 1, 5, 3)]
    after_commit = [keys[place + 1] for place, key in enumerate(keys) if key == "commit-orders"]
    assert after_commit == ["tasks-fencing-orders"] * 5
    assert visible(kafka, topic) == set()
