"""Plans leave the event loop to the streams of the workers.

What ends while a plan is made is planned for right after it: nothing else may ever wake the loop.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from copycat_connect.cluster import Instance
from copycat_eventlog.memory import MemoryLog
from copycat_rpc.pace import LONGEST_PAUSE_SECONDS, Pace
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.planning import Planning, Wakeups
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.commands import Reschedule
from copycat_scheduler.domain.leases import Leases
from copycat_scheduler.domain.state import SchedulerState
from copycat_testkit.simulated import let_pass, simulated

PLAN_SECONDS = 0.05
PLANS = 5


class SlowInputs:
    """What a plan of a large cluster is made from: it takes a while to look at, and changes all the time."""

    def __init__(self, wakeups: Wakeups) -> None:
        self.statuses = SimpleNamespace(highest=0, running={})
        self.connectors = SimpleNamespace(spans=SimpleNamespace(of=lambda _: ""))
        self.looked: list[float] = []
        self.enough = asyncio.Event()
        self._wakeups = wakeups

    def want_topics(self) -> None:
        """Want nothing."""

    def suffice(self, *_: Any) -> bool:
        """Suffice always."""
        return True

    def world(self, *_: Any) -> Reschedule:
        """Look at everything."""
        self.looked.append(asyncio.get_running_loop().time())
        let_pass(PLAN_SECONDS)
        self._wakeups.plan.set()
        if len(self.looked) == PLANS:
            self.enough.set()
        return Reschedule({}, frozenset())


@simulated
async def test_plans_that_take_long_leave_most_of_the_time_to_others() -> None:
    wakeups = Wakeups()
    inputs = SlowInputs(wakeups)
    events = event_sourced(MemoryLog())
    await events.start()
    workers = LiveWorkers(events, wakeups.plan.set, lease_seconds=10, delay_seconds=0)
    rebalances = cast(Any, SimpleNamespace(planned=lambda *_, **__: None))
    planning = Planning(
        events, workers, cast(Inputs, inputs), wakeups, rebalances, acts=cast(Any, SimpleNamespace())
    )
    running = asyncio.create_task(planning.run())
    async with asyncio.timeout(60):
        await inputs.enough.wait()
    running.cancel()
    await asyncio.wait([running])
    pauses = [later - before for before, later in zip(inputs.looked, inputs.looked[1:], strict=False)]
    assert min(pauses) >= 5 * PLAN_SECONDS * 0.99


@simulated
async def test_nothing_waits_long_after_a_plan_that_took_long() -> None:
    pace = Pace(0.02)
    pace.begin()
    let_pass(3 * PLAN_SECONDS)  # it blocks the loop, as a plan does
    await asyncio.sleep(0)
    assert 11 * PLAN_SECONDS < pace.pause() <= LONGEST_PAUSE_SECONDS
    pace.begin()
    let_pass(20 * PLAN_SECONDS)
    await asyncio.sleep(0)
    assert pace.pause() <= LONGEST_PAUSE_SECONDS


WORKER = "worker:8083"


class InputsOfALargeCluster:
    """Looking at everything lasts until what the lost worker ran has ended."""

    def __init__(self) -> None:
        self.statuses = SimpleNamespace(highest=0, running={Instance("orders"): WORKER})
        self.connectors = SimpleNamespace(spans=SimpleNamespace(of=lambda _: ""))
        self.planned_without = asyncio.Event()

    def want_topics(self) -> None:
        """Want nothing."""

    def suffice(self, *_: Any) -> bool:
        """Suffice always."""
        return True

    def world(self, _state: SchedulerState, leases: Leases, _generation: int, now: float) -> Reschedule:
        """Look at everything."""
        if WORKER not in leases.sessions and not leases.expected(WORKER, now):
            self.planned_without.set()
        while leases.expected(WORKER, asyncio.get_running_loop().time()):
            let_pass(0.1)
        return Reschedule({}, frozenset())


@simulated
async def test_what_ends_while_a_plan_is_made_is_planned_for_right_after_it() -> None:
    wakeups, inputs = Wakeups(), InputsOfALargeCluster()
    events = event_sourced(MemoryLog())
    await events.start()
    workers = LiveWorkers(events, wakeups.plan.set, lease_seconds=3600, delay_seconds=0)
    await events.lead()
    workers.beat(WORKER, {}, leaving=False)
    planning = Planning(
        events,
        workers,
        cast(Inputs, inputs),
        wakeups,
        cast(Any, SimpleNamespace(planned=lambda *_, **__: None)),
        acts=cast(Any, SimpleNamespace()),
    )
    workers.died(WORKER, asyncio.get_running_loop().time())
    wakeups.plan.clear()  # time alone is to wake it
    running = asyncio.create_task(planning.run())
    async with asyncio.timeout(60):
        await inputs.planned_without.wait()
    running.cancel()
    await asyncio.wait([running])
