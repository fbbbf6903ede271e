"""Code that holds the interpreter of a host: the kernel shows it, at once where others share that host."""

from __future__ import annotations

import time
from functools import partial
from itertools import count

import pytest
from copycat_executor.domain.deaths import MAX_QUICK_REPEATS
from copycat_executor.hosts import hold_watch, host_pool
from copycat_executor.hosts.hold_watch import ASKED_AFTER_SECONDS
from copycat_executor.taskhost.spec import thread_tag

from tests.contract.executor import world as worlds
from tests.contract.executor.fake_hosts import FakeHost
from tests.contract.executor.test_hosts import has_run
from tests.contract.executor.world import SOURCE

world = partial(worlds.world, connectors=False)


async def test_who_holds_the_interpreter_of_a_host_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold_watch, "MISSED_HEARTBEAT_SECONDS", 0.5)
    monkeypatch.setattr(hold_watch, "HELD_SECONDS", 1.0)
    monkeypatch.setattr(host_pool, "FIRST_LEASE_SECONDS", 1000.0)
    async with world(slots=1) as it:
        it.launcher.computed = time.monotonic
        await it.run_task("beside")
        await it.run_task(config={**SOURCE, "errors.restart": "never"})
        for death in range(MAX_QUICK_REPEATS + 1):
            await it.until(partial(has_run, it, death + 1))
            held = it.launcher.of("orders-0")
            await it.until(lambda: "beside-0" in held.refs())  # noqa: B023
            (start,) = [each.task.start for each in held.started if each.task.connector == "orders"]
            it.launcher.computing = thread_tag(start)
            held.beats = False
            await it.until(lambda: held.spec.host_id in it.launcher.killed)  # noqa: B023
        await it.status_is("FAILED", "orders", 0)
        assert "code that it ran held the interpreter" in it.status.trace("orders", 0)
        await it.status_is("RUNNING", "beside", 0)
        assert "FAILED" not in it.status.states("beside", 0)


async def test_who_computes_beside_others_and_lets_them_run_is_left_in_peace() -> None:
    async with world(slots=1) as it:
        await it.run_task("beside")
        await it.run_task()
        shared = it.launcher.of("orders-0")
        it.launcher.computing = thread_tag(shared.started[0].task.start)
        it.launcher.computed = it.launcher.used = time.monotonic
        await it.until(lambda: wanted_heartbeats(shared) >= 10)
        assert it.launcher.killed == []


async def test_hosts_that_wait_are_not_asked_whether_they_live() -> None:
    async with world(slots=1) as it:
        await it.run_task("beside")
        await it.run_task()
        shared, seen = it.launcher.of("orders-0"), count(1)
        it.launcher.used = lambda: 0.004 * next(seen)  # at each look
        await it.until(lambda: wanted_heartbeats(shared) >= 2)
        assert next(seen) >= 2 * ASKED_AFTER_SECONDS / 0.004


def wanted_heartbeats(host: FakeHost) -> int:
    """Return how often a host was asked whether it lives."""
    return sum(each.HasField("heartbeat_wanted") for each in host.commands)


@pytest.mark.parametrize("gone_at_once", [False, True])
async def test_who_holds_the_interpreter_while_others_wait_is_alone_next(gone_at_once: bool) -> None:
    async with world(slots=2) as it:
        it.launcher.gone_at_once = gone_at_once
        await it.run_task("beside")
        await it.run_task("apart")
        await it.run_task()
        shared = it.launcher.of("orders-0")
        (start,) = [each.task.start for each in shared.started if each.task.connector == "orders"]
        it.launcher.computing = thread_tag(start)
        shared.beats = False
        (neighbour,) = [each.task.connector for each in shared.started if each.task.connector != "orders"]
        it.launcher.computed = it.launcher.used = time.monotonic
        await it.until(lambda: it.launcher.killed == [shared.spec.host_id])
        await it.until(lambda: it.launcher.of(f"{neighbour}-0") is not shared)
        if gone_at_once:  # the slot is free once whoever ran the process knows of its end
            shared.die()
        await it.until(lambda: len(it.launcher.of("orders-0").started) == 1, "it is alone")
        alone = it.launcher.of("orders-0")
        await it.status_is("RUNNING", neighbour, 0)
        await it.until(lambda: it.status.states("orders", 0).count("RUNNING") == 2)
        assert alone is not it.launcher.of(f"{neighbour}-0")
        assert it.launcher.killed == [shared.spec.host_id]
        assert not {"FAILED"} & set(it.status.states("orders", 0))
