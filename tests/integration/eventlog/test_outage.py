"""Brokers that go away under a running log and come back."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.errors import CopycatError
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.kafka import unique
from copycat_testkit.puts import DECIDER, Put, PutCodec, Puts

#: For a writer to go on once its broker is back, on a machine that is busy with much else.
GO_ON_SECONDS = 120.0

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0]) as broker:
        yield broker


async def started(broker: EmbeddedKafka, name: str) -> Puts:
    log = KafkaLog(LogSettings(Backend.KAFKA, broker.bootstrap, name, 1, 1, owner_id=name))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    await events.start()
    return events


async def put_until_done(events: Puts, command: Put, failures: Counter[str]) -> None:
    """Put as a client does: again after every failure; `failures` counts them by their text."""
    while True:
        try:
            await events.execute(command)
        except CopycatError as error:
            failures[error.message] += 1
        else:
            return


@pytest.mark.row("K26-46")
async def test_after_a_kill_and_restart_of_the_broker_the_writer_goes_on(broker: EmbeddedKafka) -> None:
    name = unique("outage")
    events = await started(broker, name)
    await events.execute(Put("before", "1"))
    broker.kill()
    during = asyncio.create_task(put_until_done(events, Put("during", "1"), Counter()))
    done, _ = await asyncio.wait([during], timeout=15)  # longer than a transaction or a session lasts
    assert not done
    assert events.state["before"] == "1", "reads go on"
    await asyncio.to_thread(broker.start)
    async with asyncio.timeout(GO_ON_SECONDS):
        await during
    assert dict((await events.execute(Put("after", "1"))).state) == {
        "before": "1",
        "during": "1",
        "after": "1",
    }
    await events.stop()


@pytest.mark.long
async def test_nothing_is_lost_or_made_up_while_a_broker_restarts(broker: EmbeddedKafka) -> None:
    name = unique("outage")
    events = await started(broker, name)
    await events.execute(Put("start", "1"))
    acknowledged: set[str] = set()
    failures: Counter[str] = Counter()
    stopping = asyncio.Event()

    async def caller(number: int) -> None:
        count = 0
        while not stopping.is_set():
            key = f"{number}-{count}"
            await put_until_done(events, Put(key, "v"), failures)
            acknowledged.add(key)
            count += 1

    callers = [asyncio.create_task(caller(number)) for number in range(10)]
    await asyncio.to_thread(broker.kill)
    before = len(acknowledged)
    await asyncio.to_thread(broker.start)
    deadline = time.monotonic() + GO_ON_SECONDS
    while len(acknowledged) < before + 200:
        await asyncio.wait(callers, timeout=0.1)
        assert time.monotonic() < deadline, f"{len(acknowledged) - before} of 200 puts; failed: {failures}"
    stopping.set()
    await asyncio.gather(*callers)
    assert set(events.state) - {"start"} == acknowledged
    await events.stop()
    again = await started(broker, name)
    assert again.state == events.state
    await again.stop()
