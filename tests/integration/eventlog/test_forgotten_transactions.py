"""A transaction that no coordinator knows: whoever takes the log over ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from confluent_kafka import Producer
from copycat_embedded.broker import EmbeddedKafka
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.producers import SILENT
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import consume_all, unique
from copycat_testkit.puts import DECIDER, Put, PutCodec, Puts

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a broker that takes records of transactions its coordinator does not know."""
    unchecked = {"transaction.partition.verification.enable": "false"}
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka"), settings=unchecked) as broker:
        yield broker.bootstrap


async def started(broker: str, name: str) -> Puts:
    log = KafkaLog(LogSettings(Backend.KAFKA, broker, name, 1, 1, owner_id=name))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    async with asyncio.timeout(60):
        await events.start()
    return events


async def forget(broker: str, name: str, key: str) -> None:
    """Leave a record in a transaction of an id that its coordinator knows nothing of."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, transactional_id=name)
    await producer.start()
    await producer.begin_transaction()
    known, partition = producer._txn_manager, TopicPartition(name, 0)
    known.maybe_add_partition_to_txn(partition)
    known.partition_added(partition)  # so it asks nobody to add it
    await producer.send_and_wait(name, b"1", key.encode())
    await producer.client.close()
    await producer.stop()


@pytest.mark.row("K26-46")
async def test_the_next_leader_reads_what_a_forgotten_transaction_wrote_and_goes_on(broker: str) -> None:
    name = unique("forgotten")
    first = await started(broker, name)
    await first.execute(Put("before", "1"))
    await first.stop()
    await forget(broker, name, "told")
    assert [record.key() for record in consume_all(broker, name)] == [b"before"], (
        "readers wait in front of it"
    )

    second = await started(broker, name)
    async with asyncio.timeout(60):
        outcome = await second.execute(Put("after", "1"))
    assert dict(outcome.state) == {"before": "1", "told": "1", "after": "1"}
    await second.stop()


async def test_a_leader_whose_records_cannot_be_read_claims_the_log_anew(broker: str) -> None:
    name = unique("overdue")
    events = await started(broker, name)
    await events.execute(Put("before", "1"))
    other = Producer({"bootstrap.servers": broker, "transactional.id": unique("other")}, logger=SILENT)
    other.init_transactions(60)
    other.begin_transaction()
    other.produce(name, b"1", b"other")
    other.flush(60)

    during = asyncio.create_task(events.execute(Put("during", "1")))
    await eventually(lambda: not events.leads, 60)
    assert not during.done()
    other.commit_transaction(60)
    async with asyncio.timeout(60):
        outcome = await during
        await events.lead()
    assert dict(outcome.state) == {"before": "1", "other": "1", "during": "1"}
    await events.stop()
