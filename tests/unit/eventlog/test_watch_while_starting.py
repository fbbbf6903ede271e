"""A watch that comes before the log was folded: half a fold must never pass for the whole state."""

from __future__ import annotations

import asyncio

import pytest
from copycat_connect.errors import UnavailableError
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Fold, Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.watch import Snapshot
from copycat_testkit.puts import DECIDER, PutCodec, Puts, WasPut


class SlowLog(MemoryLog):
    """A log whose start waits, and then folds what was in it."""

    def __init__(self, topic: MemoryTopic) -> None:
        super().__init__(topic)
        self.go_on = asyncio.Event()

    async def start(self, fold: Fold) -> None:
        await self.go_on.wait()
        await super().start(fold)


@pytest.fixture
def log() -> SlowLog:
    topic = MemoryTopic()
    topic.write([Record(*_bytes("a", "1")), Record(*_bytes("b", "2"))])
    return SlowLog(topic)


def _bytes(key: str, value: str) -> tuple[bytes, bytes]:
    record = PutCodec().encode(WasPut(key, value))
    assert record.value is not None
    return record.key, record.value


async def first(events: Puts) -> object:
    async for item in events.watch():
        return item
    return None


async def test_the_snapshot_waits_until_everything_was_folded(log: SlowLog) -> None:
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    starting, watching = asyncio.create_task(events.start()), asyncio.create_task(first(events))
    await asyncio.wait((watching,), timeout=0.05)
    assert not watching.done()
    log.go_on.set()
    item = await asyncio.wait_for(watching, 5)
    assert isinstance(item, Snapshot)
    assert dict(item.state) == {"a": "1", "b": "2"}
    await starting
    await events.stop()


async def test_a_watch_ends_with_a_start_that_is_given_up(log: SlowLog) -> None:
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    starting, watching = asyncio.create_task(events.start()), asyncio.create_task(first(events))
    await asyncio.wait((watching,), timeout=0.05)
    starting.cancel()
    events.end_watches()
    with pytest.raises(UnavailableError, match="stopping"):
        await asyncio.wait_for(watching, 5)
