"""What becomes of status updates while the log is away (retry KIP)."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from copycat_connect.cluster import Instance
from copycat_connect.errors import (
    CopycatError,
    DataError,
    NotWriterError,
    OutcomeUnknownError,
    UnavailableError,
)
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Record, Revision
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_status.adapters.codec import StatusCodec
from copycat_status.adapters.event_sourced import StatusEvents, event_sourced
from copycat_status.adapters.retrying import Retrying
from copycat_status.adapters.writer import StatusWriter
from copycat_status.domain.commands import ForgetStatuses, Report, ReportStatuses, ReportTopics
from copycat_status.domain.decide import decide
from copycat_status.domain.errors import UpdateGivenUpError
from copycat_status.domain.events import StatusSet
from copycat_status.domain.evolve import evolve
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import State, Status
from copycat_testkit.eventually import eventually
from copycat_testkit.held_log import HeldLog

TASK = Instance("orders", 0)
AWAY = OutcomeUnknownError("the broker is away")
RETRY = RetryPolicy(first=0.3, ceiling=10.0, jitter=0.25, max_retries=5)


def reporting(state: State, generation: int = 1, worker: str = "w1") -> ReportStatuses:
    return ReportStatuses((Report(TASK, Status(state, worker, generation)),))


class FlakyLog(MemoryLog):
    """Fails as many appends as the test says."""

    def __init__(self, topic: MemoryTopic) -> None:
        super().__init__(topic)
        self.failures: deque[CopycatError] = deque()

    async def append(self, records: Sequence[Record]) -> Revision:
        if self.failures:
            raise self.failures.popleft()
        return await super().append(records)


@dataclass
class Clock:
    """Writes down the waits; they end at once unless it is held."""

    waits: list[float] = field(default_factory=list)
    running: asyncio.Event = field(default_factory=asyncio.Event)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)
        await self.running.wait()


@dataclass
class World:
    log: FlakyLog
    clock: Clock
    events: StatusEvents
    retrying: Retrying
    writer: StatusWriter

    def state_of(self, instance: Instance = TASK) -> State | None:
        status = self.events.state.status(instance)
        return None if status is None else status.state

    def records(self) -> int:
        return len(self.log.topic.entries)


@asynccontextmanager
async def run(backoff: RetryPolicy = RETRY, topic: MemoryTopic | None = None) -> AsyncIterator[World]:
    log, clock = FlakyLog(topic or MemoryTopic()), Clock()
    clock.running.set()
    events = EventSourced(Decider(StatusState(), decide, evolve), StatusCodec(), log, patience=0.01)
    retrying = Retrying(events, backoff, sleep=clock.sleep, random=lambda: 0.0)
    writer = StatusWriter(retrying)
    await events.start()
    async with writer.running():
        yield World(log, clock, events, retrying, writer)
    await events.stop()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with run() as running:
        yield running


def totals(world: World) -> tuple[int, int, int]:
    counters = world.retrying.counters
    return counters.retries, counters.failures, counters.successes


@pytest.mark.row("KRETRY-23", "KRETRY-20")
async def test_an_update_is_written_at_the_first_try(world: World) -> None:
    await world.writer.write(reporting(State.RUNNING))

    assert world.state_of() is State.RUNNING
    assert totals(world) == (0, 0, 1)


@pytest.mark.row("KRETRY-15", "KRETRY-T04")
async def test_an_update_is_tried_again_with_growing_waits_until_it_is_visible(world: World) -> None:
    world.log.failures.extend([AWAY, AWAY, NotWriterError("nothing was appended")])

    revision = await world.writer.write(reporting(State.RUNNING))

    assert world.clock.waits == [0.3, 0.6, 1.2]
    assert world.events.revision.covers(revision)
    assert world.state_of() is State.RUNNING
    assert totals(world) == (3, 0, 1)


async def test_a_record_that_was_in_the_log_all_the_same_is_not_written_twice(world: World) -> None:
    await world.writer.write(reporting(State.RUNNING))

    await world.writer.write(reporting(State.RUNNING))

    assert world.records() == 1


Update = Callable[[StatusWriter], Awaitable[Any]]


@pytest.mark.parametrize(
    "update",
    [
        lambda writer: writer.write(reporting(State.FAILED)),
        lambda writer: writer.write(
            ReportStatuses((Report(Instance("orders"), Status(State.RUNNING, "w", 1)),))
        ),
        lambda writer: writer.write(ReportTopics("orders", 0, ("t",), 1)),
    ],
)
@pytest.mark.row("KRETRY-01", "KRETRY-08", "KRETRY-16", "KRETRY-17", "KRETRY-18", "KRETRY-22")
async def test_every_kind_of_update_is_given_up_after_its_retries(
    world: World, update: Update, caplog: pytest.LogCaptureFixture
) -> None:
    world.log.failures.extend([AWAY] * 6)

    with pytest.raises(UnavailableError, match="gave up after 5 retries"), caplog.at_level(logging.ERROR):
        await update(world.writer)

    assert totals(world) == (5, 1, 0)
    assert len(caplog.records) == 1
    about: dict[str, Any] = caplog.records[0].__dict__["fields"]
    assert (about["connector"], about["retries"]) == ("orders", 5)
    assert "the broker is away" in about["why"]


@pytest.mark.row("KRETRY-01")
async def test_no_retries_means_one_attempt() -> None:
    async with run(replace(RETRY, max_retries=0)) as world:
        world.log.failures.append(AWAY)

        with pytest.raises(UnavailableError):
            await world.writer.write(reporting(State.RUNNING))

        assert totals(world)[:2] == (0, 1)


@pytest.mark.row("KRETRY-15", "KRETRY-22")
async def test_what_will_never_succeed_is_not_tried_again(world: World) -> None:
    world.log.failures.append(DataError("the record is too large"))

    with pytest.raises(DataError):
        await world.writer.write(reporting(State.FAILED))

    assert world.clock.waits == []
    assert totals(world) == (0, 1, 0)


async def test_a_standby_sends_its_caller_to_the_writer_at_once() -> None:
    topic = MemoryTopic()
    leader = MemoryLog(topic)
    await leader.start(lambda entries, reached: None)
    async with run(topic=topic) as standby:
        with pytest.raises(NotWriterError):
            await standby.writer.write(reporting(State.RUNNING))

        assert standby.clock.waits == []
        assert totals(standby) == (0, 0, 0)


@pytest.mark.row("KRETRY-13")
async def test_a_newer_status_replaces_the_one_that_waits(world: World) -> None:
    world.clock.running.clear()
    world.log.failures.append(AWAY)
    older = asyncio.create_task(world.writer.write(reporting(State.FAILED)))
    await eventually(lambda: bool(world.clock.waits))

    await world.writer.write(reporting(State.RUNNING))
    world.clock.running.set()
    await older

    assert world.state_of() is State.RUNNING
    assert world.records() == 1


@pytest.mark.row("KRETRY-13")
async def test_a_tombstone_is_not_undone_by_a_status_that_waits(world: World) -> None:
    await world.writer.write(reporting(State.RUNNING))
    world.clock.running.clear()
    world.log.failures.append(AWAY)
    older = asyncio.create_task(world.writer.write(reporting(State.FAILED)))
    await eventually(lambda: bool(world.clock.waits))

    await world.writer.write(ForgetStatuses("orders"))
    world.clock.running.set()
    await older

    assert world.events.state == StatusState()


@pytest.mark.row("KRETRY-12")
async def test_a_caller_that_goes_away_takes_nothing_back(world: World) -> None:
    world.clock.running.clear()
    world.log.failures.append(AWAY)
    call = asyncio.create_task(world.writer.write(reporting(State.RUNNING)))
    await eventually(lambda: bool(world.clock.waits))

    call.cancel()
    world.clock.running.set()

    await eventually(lambda: totals(world) == (1, 0, 1))
    assert world.state_of() is State.RUNNING


@pytest.mark.row("KRETRY-19")
async def test_what_was_given_up_is_made_good_when_the_log_is_back(world: World) -> None:
    world.log.failures.extend([AWAY] * 8)

    with pytest.raises(UnavailableError):
        await world.writer.write(reporting(State.FAILED))

    await eventually(lambda: world.state_of() is State.FAILED)
    assert not world.log.failures


async def test_what_was_given_up_gives_way_to_anything_newer() -> None:
    async with run(replace(RETRY, max_retries=0)) as world:
        world.clock.running.clear()
        world.log.failures.append(AWAY)
        with pytest.raises(UnavailableError):
            await world.writer.write(reporting(State.FAILED))

        await world.writer.write(reporting(State.RUNNING))
        world.clock.running.set()
        await eventually(lambda: not world.writer._mending)

        assert world.state_of() is State.RUNNING
        assert world.records() == 1


async def test_what_was_given_up_gives_way_to_what_another_instance_wrote() -> None:
    async with run(replace(RETRY, max_retries=0)) as world:
        world.clock.running.clear()
        world.log.failures.append(AWAY)
        with pytest.raises(UnavailableError):
            await world.writer.write(reporting(State.FAILED))

        world.log.topic.write(
            [StatusCodec().encode(StatusSet(TASK, reporting(State.PAUSED).reports[0].status))]
        )
        world.clock.running.set()
        await eventually(lambda: not world.writer._mending)

        assert world.state_of() is State.PAUSED
        assert world.records() == 1


@pytest.mark.row("KRETRY-01", "KRETRY-22")
async def test_who_hands_over_again_joins_the_attempts_that_are_under_way(world: World) -> None:
    world.log.failures.extend([AWAY] * 6)
    calls = [asyncio.create_task(world.writer.write(reporting(State.FAILED))) for _ in range(3)]

    answers = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(answer) for answer in answers] == [UpdateGivenUpError] * 3
    assert totals(world)[:2] == (5, 1)


@pytest.mark.row("KRETRY-18")
async def test_what_was_given_up_is_not_tried_anew_for_who_hands_it_over_again() -> None:
    async with run(replace(RETRY, max_retries=0)) as world:
        world.clock.running.clear()
        world.log.failures.append(AWAY)
        for _ in range(3):
            with pytest.raises(UpdateGivenUpError):
                await world.writer.write(reporting(State.FAILED))

        assert totals(world) == (0, 1, 0)
        world.clock.running.set()
        await eventually(lambda: totals(world) == (0, 1, 1))
        assert world.state_of() is State.FAILED


@pytest.mark.row("KRETRY-13")
async def test_a_tombstone_that_waits_does_not_forget_what_was_reported_since(world: World) -> None:
    await world.writer.write(reporting(State.RUNNING, 7))
    world.clock.running.clear()
    world.log.failures.append(AWAY)
    older = asyncio.create_task(world.writer.write(ForgetStatuses("orders")))
    await eventually(lambda: bool(world.clock.waits))

    await world.writer.write(reporting(State.PAUSED, 8))
    world.clock.running.set()
    await older

    assert world.state_of() is State.PAUSED


@pytest.mark.row("KRETRY-17", "KRETRY-13")
async def test_a_topic_that_waits_does_not_come_back_after_its_connector(world: World) -> None:
    world.clock.running.clear()
    world.log.failures.append(AWAY)
    older = asyncio.create_task(world.writer.write(ReportTopics("orders", 0, ("t",), 1)))
    await eventually(lambda: bool(world.clock.waits))

    await world.writer.write(ForgetStatuses("orders"))
    world.clock.running.set()
    await older

    assert world.events.state == StatusState()


@pytest.mark.row("KRETRY-15")
async def test_an_attempt_ends_when_the_log_does_not_answer_and_the_next_waits_for_the_same_append() -> None:
    topic = MemoryTopic()
    log = HeldLog(MemoryLog(topic))
    events = event_sourced(log)
    retrying = Retrying(events, replace(RETRY, first=0.0), attempt_seconds=0.01, random=lambda: 0.0)
    writer = StatusWriter(retrying)
    await events.start()
    log.hold()
    async with writer.running():
        writing = asyncio.create_task(writer.write(reporting(State.RUNNING)))
        await eventually(lambda: retrying.counters.retries >= 2)
        log.pass_all()
        await writing
    await events.stop()

    assert len(topic.entries) == 1
    assert (retrying.counters.failures, retrying.counters.successes) == (0, 1)


@pytest.mark.row("KRETRY-14")
async def test_waiting_updates_never_keep_the_process_from_ending() -> None:
    async with run() as world:
        world.clock.running.clear()
        world.log.failures.append(AWAY)
        call = asyncio.create_task(world.writer.write(reporting(State.RUNNING)))
        await eventually(lambda: bool(world.clock.waits))

    with pytest.raises(UnavailableError, match="stopping"):
        await call


@pytest.mark.row("KRETRY-21", "KRETRY-T03")
async def test_the_totals_have_the_names_of_the_metrics(world: World) -> None:
    await world.writer.write(reporting(State.RUNNING))

    assert world.retrying.counters.reading().values == {
        "status-update-retry-total": 0,
        "status-update-failure-total": 0,
        "status-update-success-total": 1,
    }
