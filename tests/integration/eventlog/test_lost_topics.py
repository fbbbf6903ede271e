"""Topics that are deleted, made anew or changed while a log runs on them, and the start after that."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions
from copycat_connect.errors import ConfigError, CopycatError, LogLostError
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.owner import owner_topic
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import create_topic, delete_topic, unique
from copycat_testkit.log_suite import FoldingReader, led, running

from tests.integration.eventlog.test_reading import COMPACT

pytestmark = pytest.mark.long

NOTICED_SECONDS = 60.0


class Names:
    """Events that are no more than a name."""

    forgets_unreadable = False

    def encode(self, event: str) -> Record:
        return Record(event.encode(), b"1")

    def decode(self, record: Record) -> str:
        return record.key.decode()


def decide(name: str, state: frozenset[str]) -> tuple[str, ...]:
    return (name,)


def evolve(state: frozenset[str], name: str) -> frozenset[str]:
    return state | {name}


def settings(kafka: str, topic: str | None = None) -> LogSettings:
    name = topic or unique("lost")
    return LogSettings(
        Backend.KAFKA,
        kafka,
        name,
        1,
        1,
        owner_id=f"{name}-writer",
        setting="offset.storage.topic",
        purpose="source connector offsets",
        loss="how far they have read",
        irreplaceable=True,
    )


def topics(kafka: str) -> set[str]:
    return set(AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=20).topics)


async def delete(kafka: str, topic: str) -> None:
    await asyncio.to_thread(delete_topic, AdminClient({"bootstrap.servers": kafka}), topic)


async def loss_of(log: KafkaLog) -> str:
    async with asyncio.timeout(NOTICED_SECONDS):
        return (await log.lost()).message if isinstance(await log.lost(), LogLostError) else "another error"


async def refused(log: KafkaLog) -> CopycatError:
    try:
        with pytest.raises(CopycatError) as caught:
            await log.start(FoldingReader().fold)
    finally:
        await log.stop()
    return caught.value


async def test_a_deleted_topic_is_noticed_refuses_everything_and_is_not_made_anew(kafka: str) -> None:
    given = settings(kafka)
    log = KafkaLog(given)
    async with running(log) as reader:
        await led(log)
        await log.append([Record(b"a", b"1")])
        await delete(kafka, given.topic)
        said = await loss_of(log)
        for phrase in (
            given.topic,
            given.setting,
            given.loss,
            "was deleted while",
            f"lost.topics.accept={given.topic}",
        ):
            assert phrase in said
        for call in (log.append([Record(b"b", b"2")]), log.end(), log.lead(30)):
            with pytest.raises(LogLostError):
                await call
        assert not log.leads
        assert reader.facts == {b"a": b"1"}, "what was folded is still known"
        other = KafkaLog(settings(kafka))
        async with running(other):  # long enough for every client to have asked for its topics again
            assert given.topic not in topics(kafka)
    assert given.topic not in topics(kafka)


async def test_who_asks_for_the_end_of_a_topic_that_goes_hears_of_it_without_a_look_that_was_due(
    kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(kafka)
    log = KafkaLog(given)
    async with running(log):
        await led(log)
        monkeypatch.setattr(log._topic_watch, "_every", 10 * NOTICED_SECONDS)
        log._topic_watch.look_soon()
        await delete(kafka, given.topic)
        async with asyncio.timeout(NOTICED_SECONDS):
            with pytest.raises(LogLostError):
                await log.end()


@pytest.mark.parametrize("records", [1, 5], ids=["shorter", "longer"])
async def test_a_topic_that_was_made_anew_is_another_one(kafka: str, records: int) -> None:
    given = settings(kafka)
    log = KafkaLog(given)
    async with running(log):
        await led(log)
        for number in range(3):
            await log.append([Record(b"%d" % number, b"1")])
        await delete(kafka, given.topic)
        create_topic(kafka, given.topic, config=COMPACT)
        again = KafkaLog(replace(given, owner_id=unique("again")))
        async with running(again):
            await led(again)
            for number in range(records):
                await again.append([Record(b"%d" % number, b"2")])
        assert "was deleted and made anew" in await loss_of(log)
        with pytest.raises(LogLostError):
            await log.append([Record(b"b", b"2")])


async def test_calls_that_wait_hear_of_the_loss_and_reads_go_on(kafka: str) -> None:
    given = settings(kafka)

    events = EventSourced(Decider(frozenset[str](), decide, evolve), Names(), KafkaLog(given))
    await events.start()
    try:
        await events.execute("a")
        assert events.trouble == ""
        await delete(kafka, given.topic)
        async with asyncio.timeout(NOTICED_SECONDS):
            while not events.trouble:
                with pytest.raises(CopycatError):
                    await events.execute("b")
        with pytest.raises(LogLostError):
            await events.execute("c")
        with pytest.raises(LogLostError):
            await events.read_to_end()
        assert "a" in events.state
    finally:
        await events.stop()


async def test_a_start_without_the_topic_that_was_there_is_refused(kafka: str) -> None:
    given = settings(kafka)
    async with running(KafkaLog(given)):
        pass
    await delete(kafka, given.topic)
    error = await refused(KafkaLog(given))
    assert isinstance(error, LogLostError)
    for phrase in (
        given.topic,
        given.loss,
        f"lost.topics.accept={given.topic}",
        f"the former topic in {given.setting}",
    ):
        assert phrase in error.message
    assert given.topic not in topics(kafka)
    async with running(KafkaLog(replace(given, loss_accepted=True))) as reader:
        assert reader.facts == {}
    async with running(KafkaLog(given)):
        pass


async def test_a_topic_that_was_put_back_is_used(kafka: str) -> None:
    given = settings(kafka)
    async with running(KafkaLog(given)):
        pass
    await delete(kafka, given.topic)
    create_topic(kafka, given.topic, config=COMPACT)
    async with running(KafkaLog(given)):
        pass


async def test_a_topic_whose_records_others_tell_anew_is_made_anew(kafka: str) -> None:
    given = replace(settings(kafka), irreplaceable=False)
    async with running(KafkaLog(given)):
        pass
    await delete(kafka, given.topic)
    async with running(KafkaLog(given)) as reader:
        assert reader.facts == {}


async def test_a_topic_that_a_broker_made_anew_is_refused_with_the_ways_on(kafka: str) -> None:
    given = settings(kafka)
    async with running(KafkaLog(given)):
        pass
    await delete(kafka, given.topic)
    create_topic(kafka, given.topic)
    error = await refused(KafkaLog(given))
    assert isinstance(error, ConfigError)
    for phrase in (
        "currently has 'cleanup.policy=delete'",
        "auto.create.topics.enable",
        given.loss,
        "--add-config",
    ):
        assert phrase in error.message
    async with running(KafkaLog(replace(given, loss_accepted=True))):
        pass
    async with running(KafkaLog(given)):
        pass


async def test_a_log_with_more_partitions_than_are_read_ends(kafka: str) -> None:
    given = settings(kafka)
    log = KafkaLog(given)
    async with running(log):
        admin = AdminClient({"bootstrap.servers": kafka})
        admin.create_partitions([NewPartitions(given.topic, 3)])[given.topic].result(60)
        async with asyncio.timeout(NOTICED_SECONDS):
            assert "has 3 partitions now" in str(await log.crashed())


async def test_the_topic_of_the_election_is_made_anew(kafka: str) -> None:
    given = settings(kafka)
    log = KafkaLog(given)
    async with running(log):
        await led(log)
        await delete(kafka, owner_topic(given.owner_id))
        await eventually(lambda: owner_topic(given.owner_id) in topics(kafka))
        await led(log)
        await log.append([Record(b"a", b"1")])
