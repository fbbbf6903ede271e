"""Consumer groups of sinks on real Kafka: their positions, and brokers that are killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import UnavailableError
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.errors import GroupActiveError, PartitionGoneError
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.offset.calling_groups import CALLERS


@pytest.fixture
async def groups(kafka: str) -> AsyncIterator[KafkaGroups]:
    async with aclosing(KafkaGroups(kafka, {})) as groups:
        yield groups


@pytest.fixture
def topic(kafka: str) -> str:
    return create_topic(kafka, partitions=3)


@pytest.fixture
def active(kafka: str, topic: str) -> Iterator[str]:
    """A group with a member that reads the topic."""
    group = unique("group")
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": group, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        wait_until(lambda: consumer.poll(0.05) or consumer.assignment(), timeout=30, what="assignment")
        yield group
    finally:
        consumer.close()


async def test_positions_are_committed_listed_altered_and_forgotten(groups: KafkaGroups, topic: str) -> None:
    group = unique("group")
    assert await groups.positions(group) == {}
    await groups.commit(group, {TopicPartition(topic, 0): 5, TopicPartition(topic, 1): 6})
    await groups.commit(group, {TopicPartition(topic, 1): 3, TopicPartition(topic, 2): 0})
    assert await groups.positions(group) == {
        TopicPartition(topic, 0): 5,
        TopicPartition(topic, 1): 3,
        TopicPartition(topic, 2): 0,
    }
    await groups.forget(group, [TopicPartition(topic, 1), TopicPartition(topic, 2)])
    await groups.forget(group, [TopicPartition(topic, 1)])
    assert await groups.positions(group) == {TopicPartition(topic, 0): 5}


@pytest.mark.row("K875-27")
async def test_a_deleted_group_has_no_positions_and_can_be_deleted_again(
    groups: KafkaGroups, topic: str
) -> None:
    group = unique("group")
    await groups.commit(group, {TopicPartition(topic, 0): 5})
    await groups.delete(group)
    await groups.delete(group)
    assert await groups.positions(group) == {}


async def test_positions_of_an_unknown_group_are_forgotten_already(groups: KafkaGroups, topic: str) -> None:
    await groups.forget(unique("group"), [TopicPartition(topic, 0)])


async def test_an_unknown_partition_is_told(groups: KafkaGroups, topic: str) -> None:
    group = unique("group")
    with pytest.raises(PartitionGoneError) as refused:
        await groups.commit(group, {TopicPartition(topic, 0): 5, TopicPartition(topic, 9): 5})
    assert group in refused.value.message
    assert await groups.positions(group) == {TopicPartition(topic, 0): 5}


@pytest.mark.row("K875-28")
async def test_a_group_with_members_cannot_be_changed(groups: KafkaGroups, topic: str, active: str) -> None:
    with pytest.raises(GroupActiveError):
        await groups.commit(active, {TopicPartition(topic, 0): 5})
    with pytest.raises(GroupActiveError):
        await groups.forget(active, [TopicPartition(topic, 0)])
    with pytest.raises(GroupActiveError):
        await groups.delete(active)


@pytest.mark.long
@pytest.mark.parametrize("call", ["commit", "forget"])
async def test_brokers_that_are_away_are_told_as_such(call: str) -> None:
    async with aclosing(KafkaGroups("127.0.0.1:1", {})) as groups:
        partition = TopicPartition("t", 0)
        with pytest.raises(UnavailableError):
            if call == "commit":
                await groups.commit("g", {partition: 1})
            else:
                await groups.forget("g", [partition])


KILLS = 20
#: A killed broker may register again once its former session has ended, 9 s by default.
QUICK_RETURN = {"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "100"}


@contextmanager
def _calling(bootstrap: str, topic: str) -> Iterator[tuple[subprocess.Popen[str], Counter[str]]]:
    """Run the callers in a process; also counts who has had an answer."""
    command = [sys.executable, "-m", "tests.integration.offset.calling_groups", bootstrap, topic]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answered: Counter[str] = Counter()
    try:
        threading.Thread(target=_count, args=(process.stdout or (), answered), daemon=True).start()
        yield process, answered
    finally:
        process.kill()
        process.wait()


def _count(lines: Iterable[str], answered: Counter[str]) -> None:
    for line in lines:
        answered[line] += 1


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_process_that_uses_groups_outlives_twenty_kills_of_the_broker(tmp_path: Path) -> None:
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0], settings=QUICK_RETURN) as broker:
        topic = create_topic(broker.bootstrap)
        with _calling(broker.bootstrap, topic) as (process, answered):
            for kill in range(KILLS + 1):
                answered.clear()
                wait_until(
                    lambda: len(answered) == CALLERS or process.poll() is not None,
                    60,
                    f"an answer for each caller after {kill} kills",
                )
                assert process.poll() is None, f"it ended with {process.poll()} after {kill} kills"
                if kill < KILLS:
                    broker.kill()
                    broker.start()
