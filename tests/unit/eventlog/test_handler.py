"""The handler on the memory log: outcomes, standbys, watches, decisions on the state ahead of the fold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from copycat_connect.errors import (
    ConfigError,
    LogCompactedError,
    NotWriterError,
    OutcomeUnknownError,
    UnavailableError,
)
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Fold, Record, Revision
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.watch import LoggedChange, LogSnapshot
from copycat_testkit.eventually import eventually
from copycat_testkit.held_log import HeldLog
from copycat_testkit.puts import DECIDER, PutCodec, PutKey, Puts, WasPut
from immutables import Map


async def started(topic: MemoryTopic, *, history: int = 100, backlog: int = 1000) -> Puts:
    events: Puts = EventSourced(
        DECIDER, PutCodec(), MemoryLog(topic), patience=0.05, history=history, backlog=backlog
    )
    await events.start()
    return events


async def test_an_outcome_shows_the_effect_at_its_revision() -> None:
    events = await started(MemoryTopic())
    outcome = await events.execute(PutKey("a", "1"))
    assert outcome.events == (WasPut("a", "1"),)
    assert outcome.state["a"] == "1"
    assert outcome.revision == Revision({0: 1})


async def test_the_same_command_twice_appends_once() -> None:
    topic = MemoryTopic()
    events = await started(topic)
    await asyncio.gather(*(events.execute(PutKey("a", "1")) for _ in range(10)))
    assert len(topic.entries) == 1


async def test_a_refused_command_appends_nothing() -> None:
    topic = MemoryTopic()
    events = await started(topic)
    with pytest.raises(ConfigError):
        await events.execute(PutKey("a", "bad"))
    assert topic.entries == ()


async def test_a_restart_folds_what_was_appended() -> None:
    topic = MemoryTopic(partitions=3)
    events = await started(topic)
    for index in range(20):
        await events.execute(PutKey(f"k{index}", str(index)))
    await events.stop()
    again = await started(topic)
    assert again.state == events.state
    assert again.revision == topic.end


async def test_a_standby_refuses_commands_and_folds() -> None:
    topic = MemoryTopic()
    leader, standby = await started(topic), await started(topic)
    await leader.execute(PutKey("a", "1"))
    assert standby.state["a"] == "1"
    with pytest.raises(NotWriterError):
        await standby.execute(PutKey("a", "2"))
    await leader.stop()
    assert (await standby.execute(PutKey("a", "2"))).state["a"] == "2"


async def test_records_of_others_are_decided_upon() -> None:
    topic = MemoryTopic()
    events = await started(topic)
    topic.write([Record(b"a", b"1"), Record(b"b", None)])
    assert (await events.execute(PutKey("a", "1"))).events == ()


async def test_a_watch_shows_a_snapshot_then_changes() -> None:
    events = await started(MemoryTopic())
    await events.execute(PutKey("a", "1"))
    watch = events.watch()
    assert await anext(watch) == LogSnapshot(Map({"a": "1"}), Revision({0: 1}))
    await events.execute(PutKey("b", "2"))
    assert await anext(watch) == LoggedChange(WasPut("b", "2"), Map({"a": "1", "b": "2"}), Revision({0: 2}))
    await events.stop()
    assert [change async for change in watch] == []


async def test_a_watch_resumes_after_a_revision() -> None:
    events = await started(MemoryTopic(partitions=4))
    seen = [(await events.execute(PutKey(f"k{n}", "v"))).revision for n in range(10)]
    watch = events.watch(after=seen[3])
    changes = [await anext(watch) for _ in range(6)]
    assert [c.event.key for c in changes if isinstance(c, LoggedChange)] == [f"k{n}" for n in range(4, 10)]
    assert changes[-1].revision == seen[-1]


async def test_a_watch_from_before_the_history_is_refused() -> None:
    events = await started(MemoryTopic(), history=3)
    for index in range(5):
        await events.execute(PutKey("a", str(index)))
    with pytest.raises(LogCompactedError):
        await anext(events.watch(after=Revision({0: 1})))
    assert isinstance(await anext(events.watch(after=Revision({0: 2}))), LoggedChange)


async def test_a_watch_from_beyond_the_end_is_refused() -> None:
    events = await started(MemoryTopic())
    with pytest.raises(LogCompactedError):
        await anext(events.watch(after=Revision({0: 100})))


async def test_a_watcher_beyond_the_backlog_is_told_to_start_over() -> None:
    events = await started(MemoryTopic(), history=3, backlog=4)
    watch = events.watch()
    await anext(watch)
    for index in range(5):
        await events.execute(PutKey("a", str(index)))
    with pytest.raises(LogCompactedError):
        await anext(watch)


async def test_more_changes_than_the_history_holds_reach_who_watches() -> None:
    topic = MemoryTopic()
    events = await started(topic, history=3)
    watch = events.watch()
    await anext(watch)
    topic.write([PutCodec().encode(WasPut(f"k{n}", "v")) for n in range(10)])
    changes = [await anext(watch) for _ in range(10)]
    assert [c.event.key for c in changes if isinstance(c, LoggedChange)] == [f"k{n}" for n in range(10)]


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
    assert isinstance(await anext(events.watch(after=Revision({0: 1}))), LoggedChange)
    await leaving.aclose()
    await events.execute(PutKey("a", "1"))
    await anext(reading)
    await events.execute(PutKey("a", "2"))
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
    assert isinstance(item, LogSnapshot)
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


async def held() -> tuple[Puts, HeldLog, MemoryTopic]:
    topic = MemoryTopic()
    log = HeldLog(MemoryLog(topic))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    await events.start()
    log.hold()
    return events, log, topic


async def test_a_decision_sees_what_is_in_flight() -> None:
    events, log, topic = await held()
    calls = [asyncio.create_task(events.execute(PutKey("a", "1"))) for _ in range(3)]
    await eventually(lambda: log.waiting == 1)
    assert "a" not in events.state
    log.pass_all()
    outcomes = await asyncio.gather(*calls)
    assert [len(outcome.events) for outcome in outcomes] == [1, 0, 0]
    assert len(topic.entries) == 1


async def test_nothing_to_do_is_answered_only_when_what_it_rests_on_is_folded() -> None:
    events, log, _ = await held()
    first = asyncio.create_task(events.execute(PutKey("a", "1")))
    second = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    assert not second.done()
    log.pass_all()
    assert (await second).state["a"] == "1"
    await first


async def test_a_refusal_waits_for_what_it_rests_on() -> None:
    events, log, _ = await held()
    first = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    refused = asyncio.create_task(events.execute(PutKey("a", "bad")))
    log.fail_all(NotWriterError("fenced"))
    with pytest.raises(NotWriterError):
        await first
    with pytest.raises(NotWriterError):
        await refused


async def test_a_refusal_on_firm_ground_is_the_decisions_own() -> None:
    events, log, _ = await held()
    first = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    refused = asyncio.create_task(events.execute(PutKey("a", "bad")))
    log.pass_all()
    await first
    with pytest.raises(ConfigError):
        await refused


async def test_all_that_was_stacked_on_a_failed_append_fails() -> None:
    events, log, topic = await held()
    calls = [asyncio.create_task(events.execute(PutKey("a", value))) for value in ("1", "2", "2")]
    await eventually(lambda: log.waiting == 2)
    log.fail_all(OutcomeUnknownError("no answer"))
    kinds = [type(error) for error in await asyncio.gather(*calls, return_exceptions=True)]
    assert kinds == [OutcomeUnknownError, NotWriterError, NotWriterError]
    assert topic.entries == ()


async def test_after_a_failure_decisions_start_from_the_fold() -> None:
    events, log, _ = await held()
    failed = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    log.fail_all(NotWriterError("fenced"))
    with pytest.raises(NotWriterError):
        await failed
    log.pass_all()
    assert (await events.execute(PutKey("a", "1"))).events


async def test_an_append_of_unknown_outcome_may_appear_later() -> None:
    events, log, topic = await held()
    failed = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    log.fail_all(OutcomeUnknownError("no answer"), appears=True)
    with pytest.raises(OutcomeUnknownError):
        await failed
    log.pass_all()
    assert events.state["a"] == "1"
    assert (await events.execute(PutKey("a", "1"))).events == ()
    assert len(topic.entries) == 1


async def test_a_record_of_another_writer_changes_the_state_ahead() -> None:
    events, log, topic = await held()
    first = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    topic.write([Record(b"b", b"1")])
    second = asyncio.create_task(events.execute(PutKey("b", "1")))
    third = asyncio.create_task(events.execute(PutKey("a", "1")))
    log.pass_all()
    assert [len((await call).events) for call in (first, second, third)] == [1, 0, 0]


async def test_a_cancelled_call_does_not_take_its_command_back() -> None:
    events, log, topic = await held()
    call = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    call.cancel()
    log.pass_all()
    await eventually(lambda: "a" in events.state)
    assert len(topic.entries) == 1


async def test_stopping_ends_what_waits() -> None:
    events, log, _ = await held()
    call = asyncio.create_task(events.execute(PutKey("a", "1")))
    await eventually(lambda: log.waiting == 1)
    await events.stop()
    with pytest.raises(NotWriterError):
        await call
