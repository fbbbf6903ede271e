"""Starting: the topic that is made or refused, brokers that are not there."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.kafka import create_topic, unique
from copycat_testkit.log_suite import Reader, led, running

from tests.integration.eventlog.instances import LONG_SESSION

#: Below what a start waits for brokers if nothing else is said, seconds.
DEFAULT_WAIT = 50


def settings(kafka: str, topic: str | None = None) -> LogSettings:
    return LogSettings(
        Backend.KAFKA,
        bootstrap_servers=kafka,
        topic=topic or unique("start"),
        partitions=1,
        replication_factor=1,
        owner_id=unique("owner"),
        setting="config.storage.topic",
        purpose="connector configurations",
    )


async def refused(given: LogSettings) -> str:
    log = KafkaLog(given)
    try:
        with pytest.raises(ConfigError) as caught:
            await log.start(Reader().fold)
    finally:
        await log.stop()
    return caught.value.message


async def test_a_missing_topic_is_made_as_told(kafka: str) -> None:
    given = replace(
        settings(kafka), partitions=5, topic_configs={"min.insync.replicas": "1", "cleanup.policy": "delete"}
    )
    async with running(KafkaLog(given)) as reader:
        assert sorted(reader.revision.next) in ([], [0, 1, 2, 3, 4])
    admin = AdminClient({"bootstrap.servers": kafka})
    resource = ConfigResource(ConfigResource.Type.TOPIC, given.topic)
    configs = admin.describe_configs([resource])[resource].result(60)
    assert (configs["cleanup.policy"].value, configs["min.insync.replicas"].value) == ("compact", "1")
    assert len(admin.list_topics(timeout=20).topics[given.topic].partitions) == 5


async def test_defaults_of_the_broker_are_used_when_asked_for(kafka: str) -> None:
    async with running(KafkaLog(replace(settings(kafka), partitions=-1, replication_factor=-1))) as reader:
        assert reader.facts == {}


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
async def test_a_topic_that_is_not_compacted_is_refused(kafka: str, policy: str) -> None:
    topic = create_topic(kafka, config={"cleanup.policy": policy})
    assert await refused(settings(kafka, topic)) == (
        f"Topic '{topic}' supplied via the 'config.storage.topic' property is required to have "
        "'cleanup.policy=compact' to guarantee consistency and durability of connector configurations, "
        f"but found the topic currently has 'cleanup.policy={policy}'. Continuing would likely result in "
        "eventually losing connector configurations and problems restarting this Connect cluster in the "
        "future. Change the 'config.storage.topic' property in the Connect worker configurations to use a "
        "topic with 'cleanup.policy=compact'."
    )


async def test_more_than_one_partition_is_refused_where_order_matters(kafka: str) -> None:
    topic = create_topic(kafka, partitions=3, config={"cleanup.policy": "compact"})
    assert await refused(replace(settings(kafka, topic), single_partition=True)) == (
        f"Topic '{topic}' supplied via the 'config.storage.topic' property is required to have a single "
        "partition in order to guarantee consistency of connector configurations, but found 3 partitions."
    )


async def test_a_topic_that_cannot_be_made_is_named(kafka: str) -> None:
    given = replace(settings(kafka), topic_configs={"no.such.config": "1"})
    assert given.topic in await refused(given)


async def test_too_few_brokers_are_waited_for_and_named(kafka: str) -> None:
    given = replace(settings(kafka), replication_factor=3, reachable_within=1.0)
    log = KafkaLog(given)
    with pytest.raises(
        UnavailableError, match=f"Creating topic '{given.topic}' failed for 1 s: .*[Rr]eplication"
    ):
        await log.start(Reader().fold)
    await log.stop()


async def test_unreachable_brokers_are_named_with_the_setting() -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    log = KafkaLog(replace(settings(address), reachable_within=1.0))
    with pytest.raises(UnavailableError, match=re.escape(f"bootstrap.servers={address}")) as caught:
        async with asyncio.timeout(DEFAULT_WAIT):
            await log.start(Reader().fold)
    assert "Connection refused" in caught.value.message
    await log.stop()


async def test_a_start_can_be_given_up(kafka: str) -> None:
    log = KafkaLog(settings(f"127.0.0.1:{free_ports(1)[0]}"))
    starting = asyncio.create_task(log.start(Reader().fold))
    done, _ = await asyncio.wait([starting], timeout=0.2)
    assert not done
    starting.cancel()
    async with asyncio.timeout(DEFAULT_WAIT):
        await log.stop()


async def test_a_single_instance_leads_at_once(kafka: str) -> None:
    async with running(KafkaLog(settings(kafka))) as reader:
        assert reader.facts == {}  # a warm broker: its coordinators are there
    log = KafkaLog(replace(settings(kafka), session=LONG_SESSION))
    async with running(log):
        await led(log)
