"""How long a worker may go on, when it beats, and how often it tries to send, on a clock made of numbers."""

from __future__ import annotations

import asyncio
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from copycat_connect.cluster import Instance, TargetState
from copycat_connect.errors import CopycatError, StaleGenerationError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_executor.background import ChangeSignal
from copycat_executor.domain.running import RunningTask
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.outbox.until_it_works import SILENT_FAILURES, until_it_works
from copycat_executor.state.lease import MARGIN_SECONDS, WorkerLease
from copycat_executor.state.runs import Runs
from copycat_executor.worker import membership as module
from copycat_executor.worker.membership import Membership
from copycat_telemetry.metrics.sampled import Windows


class World:
    def __init__(self) -> None:
        self.now = 100.0
        self.lease = WorkerLease(lambda: self.now)

    def join(self) -> None:
        self.lease.renewed(self.now, 5.0)
        self.lease.assignments_known(self.lease.lapses)


def test_it_holds_once_the_scheduler_has_answered_and_the_assignments_are_known() -> None:
    world = World()
    assert not world.lease.holds()
    world.lease.renewed(world.now, 5.0)
    assert not world.lease.holds()
    world.lease.assignments_known(world.lease.lapses)
    assert world.lease.holds()


def test_it_counts_from_when_the_heartbeat_was_sent() -> None:
    world = World()
    world.join()
    world.now = 103.0
    world.lease.renewed(101.0, 5.0)
    assert world.lease.remaining() == 3.0 - MARGIN_SECONDS
    world.now = 106.0
    assert not world.lease.holds()


def test_an_answer_that_comes_after_a_lapse_does_not_undo_it() -> None:
    world = World()
    world.join()
    world.now = 120.0
    world.lease.renewed(120.0, 5.0)
    assert not world.lease.holds()
    assert world.lease.remaining() == 0.0


def test_assignments_of_before_a_lapse_do_not_count_after_it() -> None:
    world = World()
    world.join()
    before = world.lease.lapses
    world.now = 120.0
    world.lease.renewed(120.0, 5.0)
    world.lease.assignments_known(before)
    assert not world.lease.holds()
    world.lease.assignments_known(world.lease.lapses)
    assert world.lease.holds()


def test_while_no_scheduler_could_give_anything_away_it_goes_on() -> None:
    world = World()
    world.join()
    world.now = 104.0
    world.lease.extend_without_scheduler(103.0)
    world.now = 107.9
    assert world.lease.holds()
    world.now = 108.0
    assert not world.lease.holds()


AT_ONCE = RetryPolicy(first=0.0, factor=1.0, ceiling=0.0)


class Service:
    """Fails as often as the test says, then answers."""

    def __init__(self, *failures: CopycatError) -> None:
        self.failures = list(failures)

    async def call(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "taken"


async def test_what_fails_for_now_is_tried_again_until_it_works(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(*(UnavailableError("away") for _ in range(SILENT_FAILURES - 1)))
    assert await until_it_works(service.call, AT_ONCE, complaint="nobody takes it") == "taken"
    assert caplog.text == ""


async def test_a_service_that_stays_away_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(*(UnavailableError("away") for _ in range(3 * SILENT_FAILURES)))
    assert await until_it_works(service.call, AT_ONCE, complaint="nobody takes it") == "taken"
    assert [record.getMessage() for record in caplog.records] == ["nobody takes it: away"]


async def test_what_is_refused_for_good_is_raised_at_once() -> None:
    service = Service(StaleGenerationError("old"), UnavailableError("away"))
    with pytest.raises(StaleGenerationError):
        await until_it_works(service.call, AT_ONCE)
    assert len(service.failures) == 1


async def test_the_caller_may_have_every_error_tried_again() -> None:
    service = Service(CopycatError("refused"), CopycatError("refused"))
    assert await until_it_works(service.call, AT_ONCE, passes=lambda _: True) == "taken"


async def test_the_caller_may_have_every_failure_logged(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(UnavailableError("away"), UnavailableError("busy"))
    await until_it_works(service.call, AT_ONCE, complaint="nobody takes it", log_every_failure=True)
    assert [record.getMessage() for record in caplog.records] == [
        "nobody takes it: away",
        "nobody takes it: busy",
    ]


TASKS = [Instance("orders", number) for number in range(100)]


def runs_of(tasks: list[Instance]) -> Runs:
    runs = Runs(ChangeSignal(), WorkerMeter(Windows(), clock=lambda: 0.0, wall=lambda: 0.0))
    for task in tasks:
        take(runs, task)
    return runs


def take(runs: Runs, task: Instance) -> None:
    runs.task(task).enter(RunningTask({}, {}, (), 1, TargetState.STARTED))


def membership_of(runs: Runs) -> Membership:
    services: Any = SimpleNamespace()
    reach: Any = SimpleNamespace()
    return Membership("me:8083", services, runs, WorkerLease(lambda: 0.0), reach)


async def test_what_is_taken_together_is_said_in_one_beat_before_its_time(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_INTERVAL_SECONDS", 3600.0)
    monkeypatch.setattr(module, "CHANGES_TOGETHER_SECONDS", 1.0)
    runs = runs_of(TASKS[:1])
    beats = membership_of(runs)._beats(deque())
    assert len((await anext(beats)).held) == 1
    following = asyncio.ensure_future(anext(beats))
    for task in TASKS:
        await asyncio.sleep(0)
        take(runs, task)
    async with asyncio.timeout(60):
        assert len((await following).held) == len(TASKS)


async def test_what_is_dropped_together_is_said_in_one_beat_before_its_time(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_INTERVAL_SECONDS", 3600.0)
    monkeypatch.setattr(module, "CHANGES_TOGETHER_SECONDS", 1.0)
    runs = runs_of(TASKS)
    beats = membership_of(runs)._beats(deque())
    await anext(beats)
    following = asyncio.ensure_future(anext(beats))
    for task in TASKS[:-1]:
        await asyncio.sleep(0)
        runs.task(task).leave()
    assert len((await following).held) == 1


async def test_the_last_that_is_dropped_is_said_at_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_INTERVAL_SECONDS", 3600.0)
    monkeypatch.setattr(module, "CHANGES_TOGETHER_SECONDS", 30.0)
    runs = runs_of(TASKS[:1])
    membership = membership_of(runs)
    beats = membership._beats(deque())
    await anext(beats)
    membership.leave()
    assert (await anext(beats)).leaving
    following = asyncio.ensure_future(anext(beats))
    await asyncio.sleep(0)
    runs.task(TASKS[0]).leave()
    async with asyncio.timeout(20):
        last = await following
    assert last.leaving
    assert not last.held
