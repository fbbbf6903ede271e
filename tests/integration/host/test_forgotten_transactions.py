"""A transaction of a user's topic that no coordinator knows: the next commit of its task ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import create_topic

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FakeExecutor
from tests.integration.host.test_exactly_once_source import (
    GROUP,
    committed,
    end,
    exactly_once,
    stored,
    transactional_id,
)
from tests.integration.host.test_source_task import UNASSIGNED, write

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a broker that takes records of transactions its coordinator does not know."""
    unchecked = {"transaction.partition.verification.enable": "false"}
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka"), settings=unchecked) as broker:
        yield broker.bootstrap


async def forget(kafka: str, name: str, topic: str, value: bytes) -> None:
    """Leave a record in a transaction of an id that its coordinator knows nothing of."""
    producer = AIOKafkaProducer(bootstrap_servers=kafka, transactional_id=name)
    await producer.start()
    await producer.begin_transaction()
    known, partition = producer._txn_manager, TopicPartition(topic, 0)
    known.maybe_add_partition_to_txn(partition)
    known.partition_added(partition)  # so it asks nobody to add it
    await producer.send_and_wait(topic, value)
    await producer.client.close()
    await producer.stop()


def test_readers_wait_for_a_forgotten_transaction_until_its_task_commits_another_one(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    executor.worker |= {"group.id": GROUP, "offset.storage.topic": create_topic(kafka)}
    topic = create_topic(kafka)
    path = write(tmp_path / "in", "one")
    config = exactly_once(path, topic)
    launch("h")
    ref = executor.start("h", config)
    executor.wait(lambda: stored(kafka, executor, config["name"], path) == 4, "the first line")
    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)

    asyncio.run(forget(kafka, transactional_id(config), topic, b"forgotten"))
    ref = executor.start("h", config)
    assert end(kafka, topic, "read_committed") < end(kafka, topic, "read_uncommitted")
    assert committed(kafka, topic) == ["one"]
    write(path, "two")
    executor.wait(lambda: committed(kafka, topic) == ["one", "forgotten", "two"], "readers go on")

    assert end(kafka, topic, "read_committed") == end(kafka, topic, "read_uncommitted")
    executor.stop("h", ref)
    executor.wait_for_state(ref, UNASSIGNED)
