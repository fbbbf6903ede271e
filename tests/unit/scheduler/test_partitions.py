"""What sinks read: topics by name and pattern, their partitions and how these are divided, other clusters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_scheduler.adapters.clusters import ClusterCatalogs
from copycat_scheduler.adapters.topics import TopicCatalog, TopicPattern
from copycat_scheduler.domain.partitions import Subscription, divide, partitions_of, subscription_of
from copycat_serving.beside import beside
from hypothesis import given
from hypothesis import strategies as st

PARTITIONS = st.sets(st.builds(TopicPartition, st.sampled_from("stuv"), st.integers(0, 12)), max_size=30)


@pytest.mark.parametrize(
    ("config", "subscription"),
    [
        ({"topics": "a, b,,c"}, Subscription(frozenset("abc"))),
        ({"topics.regex": "a.*"}, Subscription(pattern="a.*")),
        ({"topics": "", "topics.regex": "a.*"}, Subscription(pattern="a.*")),
        ({"topic": "a"}, None),
        ({"topics": None}, None),
    ],
)
def test_a_configuration_says_what_a_sink_reads(
    config: dict[str, str | None], subscription: Subscription | None
) -> None:
    assert subscription_of(config) == subscription


def test_named_topics_are_read_as_far_as_they_exist() -> None:
    found = partitions_of({"b", "a", "none"}, {"a": 1, "b": 2, "c": 9})
    assert found == (TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 1))


def test_nothing_is_divided_among_no_tasks() -> None:
    assert divide([TopicPartition("t", 0)], 0, {}) == []


@given(PARTITIONS, st.integers(1, 8))
def test_a_first_division_deals_one_by_one(partitions: set[TopicPartition], tasks: int) -> None:
    ordered = sorted(partitions)
    assert divide(partitions, tasks, {}) == [tuple(ordered[task::tasks]) for task in range(tasks)]


@given(PARTITIONS, PARTITIONS, st.integers(1, 8), st.integers(1, 8))
def test_a_later_division_is_even_complete_and_keeps_what_it_can(
    before: set[TopicPartition], after: set[TopicPartition], old_tasks: int, tasks: int
) -> None:
    current = dict(enumerate(divide(before, old_tasks, {})))
    divided = divide(after, tasks, current)
    assert sorted(p for each in divided for p in each) == sorted(after)
    sizes = [len(each) for each in divided]
    assert max(sizes) - min(sizes) < 2
    assert divide(after, tasks, dict(enumerate(divided))) == divided
    for task, has in enumerate(divided):
        stays = after.intersection(current.get(task, ()))
        assert len(stays.intersection(has)) >= min(len(stays), len(after) // tasks)


@given(PARTITIONS, st.integers(1, 8), st.integers(0, 7))
def test_a_task_that_gave_up_its_partitions_gets_the_same_back(
    partitions: set[TopicPartition], tasks: int, moving: int
) -> None:
    divided = divide(partitions, tasks, {})
    others = {task: has for task, has in enumerate(divided) if task != moving}
    assert divide(partitions, tasks, others) == divided


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


HOME = Subscription(frozenset({"t"}))
AWAY = Subscription(frozenset({"t"}), cluster=(("bootstrap.servers", "away:1"),))
SILENT = Subscription(frozenset({"t"}), cluster=(("bootstrap.servers", "silent:1"),))


class Topics:
    """The topics of one cluster; a silent one never answers."""

    def __init__(self, partitions: int, *, silent: bool = False) -> None:
        self.partitions = partitions
        self.silent = silent
        self.closed = False

    async def read(self) -> Mapping[str, int]:
        if self.silent:
            await asyncio.Event().wait()
        return {"t": self.partitions}

    def close(self) -> None:
        self.closed = True


class World:
    """Clusters by their brokers, and the catalogs of them."""

    def __init__(self) -> None:
        self.home = Topics(1)
        self.others = {"away:1": Topics(2), "silent:1": Topics(3, silent=True)}
        self.changed = asyncio.Event()
        self.catalogs = ClusterCatalogs(self.home.read, self._open, Placeholders({}), 0.01, self.changed.set)

    def _open(self, client: Mapping[str, str]) -> Any:
        if client["bootstrap.servers"] not in self.others:
            raise ConfigError("there is no such cluster")
        return self.others[client["bootstrap.servers"]]

    async def known(self, subscription: Subscription, partitions: int) -> None:
        expected = tuple(TopicPartition("t", index) for index in range(partitions))
        async with asyncio.timeout(60):
            while self.catalogs.partitions(subscription) != expected:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    it = World()
    running = asyncio.create_task(it.catalogs.run())
    try:
        yield it
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_a_sink_of_another_cluster_has_the_partitions_that_are_there() -> None:
    async with world() as it:
        it.catalogs.want({HOME, AWAY})
        await it.known(HOME, 1)
        await it.known(AWAY, 2)


async def test_a_silent_cluster_holds_up_nobody_else() -> None:
    async with world() as it:
        it.catalogs.want({SILENT, HOME, AWAY})
        await it.known(HOME, 1)
        await it.known(AWAY, 2)
        assert it.catalogs.partitions(SILENT) is None


async def test_a_cluster_without_sinks_is_let_go_and_taken_up_again() -> None:
    async with world() as it:
        it.catalogs.want({HOME, AWAY})
        await it.known(AWAY, 2)
        it.catalogs.want({HOME})
        async with asyncio.timeout(60):
            while not it.others["away:1"].closed:  # noqa: ASYNC110 - nobody reports it
                await asyncio.sleep(0.001)
        assert it.catalogs.partitions(AWAY) is None
        it.catalogs.want(set())
        it.catalogs.want({HOME, AWAY})
        await it.known(HOME, 1)
        await it.known(AWAY, 2)


async def test_a_client_that_cannot_be_made_is_no_harm_to_others() -> None:
    nowhere = Subscription(frozenset({"t"}), cluster=(("bootstrap.servers", "nowhere:1"),))
    async with world() as it:
        it.catalogs.want({nowhere, HOME})
        await it.known(HOME, 1)
        assert it.catalogs.partitions(nowhere) is None
