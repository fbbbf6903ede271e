"""When topics are read, and what is known of them.

Which topics a pattern means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import UnavailableError
from copycat_scheduler.adapters.topics import TopicCatalog, TopicPattern
from copycat_scheduler.domain.partitions import Subscription
from copycat_serving.beside import beside

ORDERS, OTHER = Subscription(frozenset({"orders"})), Subscription(pattern="other")


class Kafka:
    """Topics, the number of times they were read, and a broker that may be away."""

    def __init__(self, **topics: int) -> None:
        self.topics = topics
        self.away = False
        self.reads = 0
        self.changed = asyncio.Event()

    async def read(self) -> Mapping[str, int]:
        self.reads += 1
        if self.away:
            raise UnavailableError("away")
        return dict(self.topics)

    async def change(self) -> None:
        async with asyncio.timeout(10):
            await self.changed.wait()
        self.changed.clear()


async def test_nothing_is_read_while_nobody_asks() -> None:
    kafka = Kafka(orders=2)
    catalog = TopicCatalog(kafka.read, 0.001, kafka.changed.set)
    async with beside(catalog.run):
        for _ in range(1000):
            await asyncio.sleep(0)
    assert kafka.reads == 0
    assert catalog.partitions(ORDERS) is None


async def test_what_is_newly_asked_for_is_read_at_once() -> None:
    kafka = Kafka(orders=2)
    catalog = TopicCatalog(kafka.read, 60, kafka.changed.set)
    async with beside(catalog.run):
        catalog.want({ORDERS})
        await kafka.change()
        assert catalog.partitions(ORDERS) == (TopicPartition("orders", 0), TopicPartition("orders", 1))
        assert catalog.partitions(OTHER) is None
        catalog.want({ORDERS, OTHER})
        await kafka.change()
        assert catalog.partitions(OTHER) == ()
    assert kafka.reads == 2


async def test_new_partitions_are_found_later_and_a_broker_that_is_away_changes_nothing() -> None:
    kafka = Kafka(orders=1)
    catalog = TopicCatalog(kafka.read, 0.001, kafka.changed.set)
    async with beside(catalog.run):
        catalog.want({ORDERS})
        await kafka.change()
        kafka.away, kafka.topics["orders"] = True, 2
        before = kafka.reads
        async with asyncio.timeout(10):
            while kafka.reads < before + 3:  # noqa: ASYNC110, nobody reports a failed read
                await asyncio.sleep(0.001)
        assert catalog.partitions(ORDERS) == (TopicPartition("orders", 0),)
        kafka.away = False
        await kafka.change()
        assert catalog.partitions(ORDERS) == (TopicPartition("orders", 0), TopicPartition("orders", 1))


async def test_a_topic_that_is_not_there_is_told_once_and_again_when_it_has_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kafka = Kafka(other=1)
    catalog = TopicCatalog(kafka.read, 0.001, kafka.changed.set)

    def lines(topic: str) -> list[str]:
        about = ((line.getMessage(), getattr(line, "fields", {})) for line in caplog.records)
        return [message for message, fields in about if fields.get("topic") == topic]

    def told() -> int:
        return len([line for line in lines("orders") if line == "topic of sinks is missing"])

    async with beside(catalog.run):
        catalog.want({ORDERS, OTHER})
        await kafka.change()
        assert told() == 1
        kafka.topics["orders"] = 1
        await kafka.change()
        assert told() == 1
        del kafka.topics["orders"]
        await kafka.change()
        assert told() == 2
    assert lines("other") == []


HOSTILE = "(a|aa)+$b|orders.*"


def meant(written: str, *topics: str) -> list[str]:
    pattern = TopicPattern(written)
    pattern.look(topics)
    assert pattern.fault is None
    return pattern.topics


def test_a_pattern_means_whole_names_and_never_topics_of_kafka_itself() -> None:
    topics = ("orders", "orders-eu", "reorders", "__consumer_offsets")
    assert meant("orders", *topics) == ["orders"]
    assert meant(".*", *topics) == ["orders", "orders-eu", "reorders"]


def test_a_pattern_is_javas() -> None:
    assert meant(r"\Qa.b\E-\p{Digit}++", "a.b-1", "axb-1") == ["a.b-1"]


def test_a_wrong_pattern_means_nothing() -> None:
    assert meant("(", "a") == []


def test_only_new_topics_are_asked_about() -> None:
    pattern = TopicPattern("a.*")
    assert not pattern.knows(["a", "b"])
    pattern.look(["a", "b"])
    assert pattern.knows(["a", "b"])
    assert pattern.knows(["b"])
    assert pattern.topics == []
    assert not pattern.knows(["b", "ab"])
    pattern.look(["b", "ab"])
    assert pattern.topics == ["ab"]


@pytest.mark.timeout(60)
def test_a_pattern_that_does_not_end_asks_no_more_until_the_topic_is_gone() -> None:
    pattern, hostile = TopicPattern(HOSTILE), "a" * 200
    pattern.look(["orders", hostile, "orders-eu"])
    assert pattern.fault is not None
    assert pattern.fault.startswith(f"topics.regex has '{HOSTILE}'")
    assert f"The topic is {hostile}. Change topics.regex, or delete that topic" in pattern.fault
    assert pattern.topics == ["orders"]
    assert pattern.knows(["orders", hostile, "orders-eu", *map(str, range(1000))])
    assert not pattern.knows(["orders", "orders-eu"])
    assert pattern.fault is None
    pattern.look(["orders", "orders-eu"])
    assert pattern.topics == ["orders", "orders-eu"]


@pytest.mark.timeout(60)
def test_all_topics_together_have_one_limit() -> None:
    # Each of these takes a while, and no single one too long: 200 of them would take a minute.
    pattern = TopicPattern("(a|aa)+$b")
    pattern.look([f"{'a' * 30}{'x' * number}" for number in range(200)])
    assert pattern.fault is not None
