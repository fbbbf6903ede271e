"""What partitions of topics hold, and from where on it is as new as a time; asked of their brokers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as ClientPartition
from aiokafka.errors import KafkaError
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import UnavailableError
from copycat_eventlog.uncreating import UncreatingClient, uncreating

from copycat_offset.domain.moves import Bounds


async def topic_bounds(
    client: Mapping[str, Any], partitions: Collection[TopicPartition], time: int | None, seconds: float
) -> dict[TopicPartition, Bounds]:
    """Return the bounds of those partitions that exist.

    Args:
        client: An aiokafka client's connection arguments; connections are made for this call only.
        partitions: What is asked about.
        time: Milliseconds since the epoch, for `Bounds.at`; None for none.
        seconds: How long all of it may take.

    Raises:
        UnavailableError: The brokers did not answer in time, or may not be asked.
    """
    arguments = {**client, "request_timeout_ms": int(seconds * 1000)}
    try:
        async with asyncio.timeout(seconds):
            there = await _existing(arguments, partitions)
            return await _bounds(arguments, there, time) if there else {}
    except (KafkaError, TimeoutError) as error:
        reason = str(error) or type(error).__name__
        raise UnavailableError(
            f"Kafka did not say within {seconds:g} s what the topics hold: {reason}"
        ) from error


async def _existing(
    arguments: Mapping[str, Any], partitions: Collection[TopicPartition]
) -> list[TopicPartition]:
    """Return those that exist: aiokafka's consumer would wait for the others for ever."""
    client = UncreatingClient(**arguments)
    try:
        await client.bootstrap()
        known = await client.fetch_all_metadata()
    finally:
        await client.close()
    return [each for each in partitions if each.partition in (known.partitions_for_topic(each.topic) or ())]


async def _bounds(
    arguments: Mapping[str, Any], partitions: Collection[TopicPartition], time: int | None
) -> dict[TopicPartition, Bounds]:
    asked = [ClientPartition(*each) for each in partitions]
    consumer = uncreating(AIOKafkaConsumer(**arguments, enable_auto_commit=False))
    try:
        await consumer.start()
        low = await consumer.beginning_offsets(asked)
        high = await consumer.end_offsets(asked)
        found = {} if time is None else await consumer.offsets_for_times(dict.fromkeys(asked, time))
    finally:
        await consumer.stop()
    return {
        TopicPartition(*each): Bounds(low[each], high[each], found[each].offset if found.get(each) else None)
        for each in asked
    }
