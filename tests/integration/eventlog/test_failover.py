"""Instances that die, freeze and wake: one writer, nothing lost."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack

import pytest
from copycat_connect.errors import NotWriterError
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import unique
from copycat_testkit.log_suite import running

from tests.integration.eventlog.instances import LONG_SESSION, instance

pytestmark = pytest.mark.long


async def facts(kafka: str, name: str) -> dict[str, str]:
    log = KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name))
    async with running(log) as reader:
        return {key.decode(): value.decode() for key, value in reader.facts.items()}


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


async def test_a_leader_that_is_asked_to_stop_hands_over_at_once(kafka: str) -> None:
    name = unique("handover")
    async with instance(kafka, name, LONG_SESSION) as first:
        await first.hears(lambda it: it.leads)
        async with instance(kafka, name, LONG_SESSION) as second:
            assert first.process.stdin is not None
            first.process.stdin.close()
            await first.process.wait()
            await second.hears(lambda it: it.leads)


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


async def test_a_service_that_was_killed_need_not_wait_for_itself(kafka: str) -> None:
    name = unique("again")
    async with instance(kafka, name, LONG_SESSION) as first:
        await first.hears(lambda it: it.leads)
        first.process.kill()
        await first.process.wait()
    async with instance(kafka, name, LONG_SESSION) as again:
        await again.hears(lambda it: it.leads)


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
