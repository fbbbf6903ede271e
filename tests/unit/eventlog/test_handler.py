"""The handler on the memory log.

A watch that comes before the log was folded: half a fold must never pass for the whole state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from copycat_connect.errors import ConfigError, LogCompactedError, NotWriterError, UnavailableError
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Fold, Record, Revision
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.watch import Change, Snapshot
from copycat_testkit.puts import DECIDER, Put, PutCodec, Puts, WasPut
from immutables import Map


async def started(topic: MemoryTopic, *, history: int = 100, backlog: int = 1000) -> Puts:
    events: Puts = EventSourced(
        DECIDER, PutCodec(), MemoryLog(topic), patience=0.05, history=history, backlog=backlog
    )
    await events.start()
    return events


async def test_an_outcome_shows_the_effect_at_its_revision() -> None:
    events = await started(MemoryTopic())
    outcome = await events.execute(Put("a", "1"))
    assert outcome.events == (WasPut("a", "1"),)
    assert outcome.state["a"] == "1"
    assert outcome.revision == Revision({0: 1})


async def test_the_same_command_twice_appends_once() -> None:
    topic = MemoryTopic()
    events = await started(topic)
    await asyncio.gather(*(events.execute(Put("a", "1")) for _ in range(10)))
    assert len(topic.entries) == 1


async def test_a_refused_command_appends_nothing() -> None:
    topic = MemoryTopic()
    events = await started(topic)
    with pytest.raises(ConfigError):
        await events.execute(Put("a", "bad"))
    assert topic.entries == ()


async def test_a_restart_folds_what_was_appended() -> None:
    topic = MemoryTopic(partitions=3)
    events = await started(topic)
    for index in range(20):
        await events.execute(Put(f"k{index}", str(index)))
    await events.stop()
    again = await started(topic)
    assert again.state == events.state
    assert again.revision == topic.end


async def test_a_standby_refuses_commands_and_folds() -> None:
    topic = MemoryTopic()
    leader, standby = await started(topic), await started(topic)
    await leader.execute(Put("a", "1"))
    assert standby.state["a"] == "1"
    with pytest.raises(NotWriterError):
        await standby.execute(Put("a", "2"))
    await leader.stop()
    assert (await standby.execute(Put("a", "2"))).state["a"] == "2"


async def test_records_of_others_are_decided_upon() -> None:
    topic = MemoryTopic()
    events = await started(topic)
    topic.write([Record(b"a", b"1"), Record(b"b", None)])
    assert (await events.execute(Put("a", "1"))).events == ()


async def test_a_watch_shows_a_snapshot_then_changes() -> None:
    events = await started(MemoryTopic())
    await events.execute(Put("a", "1"))
    watch = events.watch()
    assert await anext(watch) == Snapshot(Map({"a": "1"}), Revision({0: 1}))
    await events.execute(Put("b", "2"))
    assert await anext(watch) == Change(WasPut("b", "2"), Map({"a": "1", "b": "2"}), Revision({0: 2}))
    await events.stop()
    assert [change async for change in watch] == []


async def test_a_watch_resumes_after_a_revision() -> None:
    events = await started(MemoryTopic(partitions=4))
    seen = [(await events.execute(Put(f"k{n}", "v"))).revision for n in range(10)]
    watch = events.watch(after=seen[3])
    changes = [await anext(watch) for _ in range(6)]
    assert [c.event.key for c in changes if isinstance(c, Change)] == [f"k{n}" for n in range(4, 10)]
    assert changes[-1].revision == seen[-1]


async def test_a_watch_from_before_the_history_is_refused() -> None:
    events = await started(MemoryTopic(), history=3)
    for index in range(5):
        await events.execute(Put("a", str(index)))
    with pytest.raises(LogCompactedError):
        await anext(events.watch(after=Revision({0: 1})))
    assert isinstance(await anext(events.watch(after=Revision({0: 2}))), Change)


async def test_a_watch_from_beyond_the_end_is_refused() -> None:
    events = await started(MemoryTopic())
    with pytest.raises(LogCompactedError):
        await anext(events.watch(after=Revision({0: 100})))


async def test_a_watcher_beyond_the_backlog_is_told_to_start_over() -> None:
    events = await started(MemoryTopic(), history=3, backlog=4)
    watch = events.watch()
    await anext(watch)
    for index in range(5):
        await events.execute(Put("a", str(index)))
    with pytest.raises(LogCompactedError):
        await anext(watch)


async def test_more_changes_than_the_history_holds_reach_who_watches() -> None:
    topic = MemoryTopic()
    events = await started(topic, history=3)
    watch = events.watch()
    await anext(watch)
    topic.write([PutCodec().encode(WasPut(f"k{n}", "v")) for n in range(10)])
    changes = [await anext(watch) for _ in range(10)]
    assert [c.event.key for c in changes if isinstance(c, Change)] == [f"k{n}" for n in range(10)]


async def test_nothing_is_kept_beyond_the_history_once_all_have_read_it() -> None:
    topic = MemoryTopic()
    events = await started(topic, history=3)
    reading, leaving = events.watch(), events.watch()
    for watch in (reading, leaving):
        await anext(watch)
    assert isinstance(leaving, AsyncGenerator)
    seen = topic.write([PutCodec().encode(WasPut(f"k{n}", "v")) for n in range(10)])
    for _ in range(10):
        await anext(reading)
    assert isinstance(await anext(events.watch(after=Revision({0: 1}))), Change)
    await leaving.aclose()
    await events.execute(Put("a", "1"))
    await anext(reading)
    await events.execute(Put("a", "2"))
    with pytest.raises(LogCompactedError):
        await anext(events.watch(after=Revision({0: 1})))
    assert seen == Revision({0: 10})


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
