"""Decisions on the state ahead of the fold."""

from __future__ import annotations

import asyncio

import pytest
from copycat_connect.errors import ConfigError, NotWriterError, OutcomeUnknownError
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_testkit.eventually import eventually
from copycat_testkit.held_log import HeldLog
from copycat_testkit.puts import DECIDER, Put, PutCodec, Puts


async def held() -> tuple[Puts, HeldLog, MemoryTopic]:
    topic = MemoryTopic()
    log = HeldLog(MemoryLog(topic))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    await events.start()
    log.hold()
    return events, log, topic


async def test_a_decision_sees_what_is_in_flight() -> None:
    events, log, topic = await held()
    calls = [asyncio.create_task(events.execute(Put("a", "1"))) for _ in range(3)]
    await eventually(lambda: log.waiting == 1)
    assert "a" not in events.state
    log.pass_all()
    outcomes = await asyncio.gather(*calls)
    assert [len(outcome.events) for outcome in outcomes] == [1, 0, 0]
    assert len(topic.entries) == 1


async def test_nothing_to_do_is_answered_only_when_what_it_rests_on_is_folded() -> None:
    events, log, _ = await held()
    first = asyncio.create_task(events.execute(Put("a", "1")))
    second = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    assert not second.done()
    log.pass_all()
    assert (await second).state["a"] == "1"
    await first


async def test_a_refusal_waits_for_what_it_rests_on() -> None:
    events, log, _ = await held()
    first = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    refused = asyncio.create_task(events.execute(Put("a", "bad")))
    log.fail_all(NotWriterError("fenced"))
    with pytest.raises(NotWriterError):
        await first
    with pytest.raises(NotWriterError):
        await refused


async def test_a_refusal_on_firm_ground_is_the_decisions_own() -> None:
    events, log, _ = await held()
    first = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    refused = asyncio.create_task(events.execute(Put("a", "bad")))
    log.pass_all()
    await first
    with pytest.raises(ConfigError):
        await refused


async def test_all_that_was_stacked_on_a_failed_append_fails() -> None:
    events, log, topic = await held()
    calls = [asyncio.create_task(events.execute(Put("a", value))) for value in ("1", "2", "2")]
    await eventually(lambda: log.waiting == 2)
    log.fail_all(OutcomeUnknownError("no answer"))
    kinds = [type(error) for error in await asyncio.gather(*calls, return_exceptions=True)]
    assert kinds == [OutcomeUnknownError, NotWriterError, NotWriterError]
    assert topic.entries == ()


async def test_after_a_failure_decisions_start_from_the_fold() -> None:
    events, log, _ = await held()
    failed = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    log.fail_all(NotWriterError("fenced"))
    with pytest.raises(NotWriterError):
        await failed
    log.pass_all()
    assert (await events.execute(Put("a", "1"))).events


async def test_an_append_of_unknown_outcome_may_appear_later() -> None:
    events, log, topic = await held()
    failed = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    log.fail_all(OutcomeUnknownError("no answer"), appears=True)
    with pytest.raises(OutcomeUnknownError):
        await failed
    log.pass_all()
    assert events.state["a"] == "1"
    assert (await events.execute(Put("a", "1"))).events == ()
    assert len(topic.entries) == 1


async def test_a_record_of_another_writer_changes_the_state_ahead() -> None:
    events, log, topic = await held()
    first = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    topic.write([Record(b"b", b"1")])
    second = asyncio.create_task(events.execute(Put("b", "1")))
    third = asyncio.create_task(events.execute(Put("a", "1")))
    log.pass_all()
    assert [len((await call).events) for call in (first, second, third)] == [1, 0, 0]


async def test_a_cancelled_call_does_not_take_its_command_back() -> None:
    events, log, topic = await held()
    call = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    call.cancel()
    log.pass_all()
    await eventually(lambda: "a" in events.state)
    assert len(topic.entries) == 1


async def test_stopping_ends_what_waits() -> None:
    events, log, _ = await held()
    call = asyncio.create_task(events.execute(Put("a", "1")))
    await eventually(lambda: log.waiting == 1)
    await events.stop()
    with pytest.raises(NotWriterError):
        await call
