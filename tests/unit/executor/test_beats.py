"""Beats come twice a second, and before their time only where somebody waits for what they say."""

from __future__ import annotations

import asyncio
from collections import deque
from types import SimpleNamespace
from typing import Any

from copycat_connect.cluster import Instance, TargetState
from copycat_executor.background import ChangeSignal
from copycat_executor.domain.running import RunningTask
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs
from copycat_executor.worker import membership as module
from copycat_executor.worker.membership import Membership
from copycat_telemetry.metrics.sampled import Windows

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
