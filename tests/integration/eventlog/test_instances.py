"""Instances of a service on one log: how they start, which of them writes, what survives their kills."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from copycat_connect.errors import ConfigError, NotWriterError, UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import create_topic, idempotent_producer, unique
from copycat_testkit.log_suite import FoldingReader, led, running
from copycat_testkit.puts import DECIDER, PutCodec, PutKey, Puts

#: Far beyond every deadline of these tests: who comes sooner did not wait for a session to end, seconds.
LONG_SESSION = 300.0
PROGRAM = Path(__file__).parent / "instance.py"


class Instance:
    """A running `instance.py`."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.said: list[str] = []
        self.listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self.said.append(line.decode().strip())

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def count(self, start: str) -> int:
        return sum(line.startswith(start) for line in self.said)

    @property
    def leads(self) -> bool:
        turns = [line for line in self.said if line in {"leads", "follows"}]
        return bool(turns) and turns[-1] == "leads"

    async def hears(self, condition: Callable[[Instance], bool], within: float = 60.0) -> None:
        await eventually(lambda: condition(self), within)


@asynccontextmanager
async def instance(bootstrap: str, name: str, session: float = 6.0) -> AsyncIterator[Instance]:
    command = (sys.executable, str(PROGRAM), bootstrap, name, str(session))
    running = Instance(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE))
    try:
        await running.hears(lambda it: "ready" in it.said)
        yield running
    finally:
        if running.process.returncode is None:
            running.process.kill()
        await running.process.wait()
        await running.listening


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
            await log.start(FoldingReader().fold)
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
        await log.start(FoldingReader().fold)
    await log.stop()


async def test_unreachable_brokers_are_named_with_the_setting() -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    log = KafkaLog(replace(settings(address), reachable_within=1.0))
    with pytest.raises(UnavailableError, match=re.escape(f"bootstrap.servers={address}")) as caught:
        async with asyncio.timeout(DEFAULT_WAIT):
            await log.start(FoldingReader().fold)
    assert "Connection refused" in caught.value.message
    await log.stop()


async def test_a_start_can_be_given_up(kafka: str) -> None:
    log = KafkaLog(settings(f"127.0.0.1:{free_ports(1)[0]}"))
    starting = asyncio.create_task(log.start(FoldingReader().fold))
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


async def facts(kafka: str, name: str) -> dict[str, str]:
    log = KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name))
    async with running(log) as reader:
        return {key.decode(): value.decode() for key, value in reader.facts.items()}


@pytest.mark.long
async def test_what_was_answered_survives_a_kill_of_the_writer(kafka: str) -> None:
    name = unique("killed")
    async with instance(kafka, name) as writer:
        await writer.hears(lambda it: it.leads)
        sent = 5000
        writer.say(*(f"k{number} {number}" for number in range(sent)))
        await writer.hears(lambda it: it.count("ok") > 300)
        writer.process.kill()
        await writer.process.wait()
        await writer.listening
        answered = {line.split()[1] for line in writer.said if line.startswith("ok")}
    survived = await facts(kafka, name)
    assert answered <= survived.keys()
    assert answered, "it was killed in the middle"
    assert len(answered) < sent


@pytest.mark.long
async def test_a_standby_takes_over_from_a_killed_leader(kafka: str) -> None:
    name = unique("failover")
    async with instance(kafka, name) as first:
        await first.hears(lambda it: it.leads)
        async with instance(kafka, name) as second:
            first.say("a 1")
            await first.hears(lambda it: "ok a 1" in it.said)
            first.process.kill()
            await second.hears(lambda it: it.leads)
            second.say("get a", "a 2")
            await second.hears(lambda it: "is a 1" in it.said and "ok a 2" in it.said)


@pytest.mark.long
async def test_a_leader_that_is_asked_to_stop_hands_over_at_once(kafka: str) -> None:
    name = unique("handover")
    async with instance(kafka, name, LONG_SESSION) as first:
        await first.hears(lambda it: it.leads)
        async with instance(kafka, name, LONG_SESSION) as second:
            assert first.process.stdin is not None
            first.process.stdin.close()
            await first.process.wait()
            await second.hears(lambda it: it.leads)


@pytest.mark.long
async def test_a_frozen_leader_that_wakes_writes_nothing_and_disturbs_nobody(kafka: str) -> None:
    name = unique("zombie")
    async with instance(kafka, name) as zombie:
        await zombie.hears(lambda it: it.leads)
        async with instance(kafka, name) as successor:
            zombie.say("a 1")
            await zombie.hears(lambda it: "ok a 1" in it.said)
            zombie.process.send_signal(signal.SIGSTOP)
            await successor.hears(lambda it: it.leads)
            successor.say("a 2")
            await successor.hears(lambda it: "ok a 2" in it.said)
            zombie.say("a 3")
            zombie.process.send_signal(signal.SIGCONT)
            await zombie.hears(lambda it: it.count("failed a 3") == 1)
            assert "failed a 3 NotWriterError" in zombie.said
            await zombie.hears(lambda it: not it.leads)
            successor.say(*(f"b {number}" for number in range(20)))
            await successor.hears(lambda it: it.count("ok b") == 20)
            assert successor.leads
            assert successor.count("follows") <= 1, "it was not fenced by the zombie"
    assert (await facts(kafka, name))["a"] == "2"


@pytest.mark.long
async def test_a_service_that_was_killed_need_not_wait_for_itself(kafka: str) -> None:
    name = unique("again")
    async with instance(kafka, name, LONG_SESSION) as first:
        await first.hears(lambda it: it.leads)
        first.process.kill()
        await first.process.wait()
    async with instance(kafka, name, LONG_SESSION) as again:
        await again.hears(lambda it: it.leads)


@pytest.mark.long
async def test_instances_that_start_together_settle_on_one(kafka: str) -> None:
    name = unique("together")
    one, two = (KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name)) for _ in range(2))
    async with AsyncExitStack() as stack:
        await asyncio.gather(*(stack.enter_async_context(running(log)) for log in (one, two)))
        await eventually(lambda: one.leads or two.leads)
        leader, standby = (one, two) if one.leads else (two, one)
        with pytest.raises(NotWriterError):
            await standby.lead(5)
        await leader.append([Record(b"a", b"1")])
        assert not standby.leads


async def started(kafka: str, name: str) -> Puts:
    log = KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    await events.start()
    return events


@pytest.mark.long
async def test_200_000_records_are_folded(kafka: str) -> None:
    name = create_topic(kafka, config={"cleanup.policy": "compact"})
    producer = idempotent_producer(kafka, {"linger.ms": 20, "queue.buffering.max.messages": 200_000})
    for number in range(200_000):
        producer.produce(name, key=f"key-{number % 50_000}", value=f'{{"position":{number}}}' + "x" * 80)
    assert producer.flush(60) == 0
    events = await started(kafka, name)
    assert len(events.state) == 50_000
    await events.stop()


@pytest.mark.long
async def test_50_callers_share_transactions(kafka: str) -> None:
    events = await started(kafka, unique("load"))

    async def caller(number: int) -> None:
        for count in range(60):
            await events.execute(PutKey(f"caller-{number}", str(count)))

    await caller(0)
    before = events.revision.next[0]
    await asyncio.gather(*(caller(number) for number in range(50)))
    markers = events.revision.next[0] - before - 3000
    await events.stop()
    assert 0 < markers < 1500, "a transaction leaves one marker"
