"""What the partitions of a topic hold, and where a time is in them, on real Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import UnavailableError
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.moves import Bounds
from copycat_testkit.kafka import create_topic, idempotent_producer

HOUR = 3_600_000


@pytest.fixture
async def groups(kafka: str) -> AsyncIterator[KafkaGroups]:
    async with aclosing(KafkaGroups(kafka, {})) as groups:
        yield groups


async def test_a_time_is_found_in_every_partition_that_exists(kafka: str, groups: KafkaGroups) -> None:
    topic = create_topic(kafka, partitions=3)
    producer = idempotent_producer(kafka)
    for hour in range(1, 11):
        producer.produce(topic, b"x", partition=0, timestamp=hour * HOUR)
        producer.produce(topic, b"x", partition=1, timestamp=hour)
    assert producer.flush(60) == 0
    there = [TopicPartition(topic, number) for number in range(3)]

    found = await groups.bounds([*there, TopicPartition(topic, 3), TopicPartition("none", 0)], 4 * HOUR - 1)

    assert found == dict(zip(there, (Bounds(0, 10, 3), Bounds(0, 10, None), Bounds(0, 0, None)), strict=True))
    assert await groups.bounds(there[:1], None) == {there[0]: Bounds(0, 10, None)}


async def test_brokers_that_are_away_are_told_as_such() -> None:
    async with aclosing(KafkaGroups("127.0.0.1:1", {"request.timeout.ms": "1000"})) as groups:
        with pytest.raises(UnavailableError, match="did not say within 1 s what the topics hold"):
            await groups.bounds([TopicPartition("t", 0)], None)
