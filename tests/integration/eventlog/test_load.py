"""Many records, many callers."""

from __future__ import annotations

import asyncio

import pytest
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.kafka import create_topic, idempotent_producer, unique
from copycat_testkit.puts import DECIDER, Put, PutCodec, Puts

pytestmark = pytest.mark.long


async def started(kafka: str, name: str) -> Puts:
    log = KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    await events.start()
    return events


async def test_200_000_records_are_folded(kafka: str) -> None:
    name = create_topic(kafka, config={"cleanup.policy": "compact"})
    producer = idempotent_producer(kafka, {"linger.ms": 20, "queue.buffering.max.messages": 200_000})
    for number in range(200_000):
        producer.produce(name, key=f"key-{number % 50_000}", value=f'{{"position":{number}}}' + "x" * 80)
    assert producer.flush(60) == 0
    events = await started(kafka, name)
    assert len(events.state) == 50_000
    await events.stop()


async def test_50_callers_share_transactions(kafka: str) -> None:
    events = await started(kafka, unique("load"))

    async def caller(number: int) -> None:
        for count in range(60):
            await events.execute(Put(f"caller-{number}", str(count)))

    await caller(0)
    before = events.revision.next[0]
    await asyncio.gather(*(caller(number) for number in range(50)))
    markers = events.revision.next[0] - before - 3000
    await events.stop()
    assert 0 < markers < 1500, "a transaction leaves one marker"
