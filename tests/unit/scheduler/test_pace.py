"""Plans leave the event loop to the streams of the workers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from copycat_eventlog.memory import MemoryLog
from copycat_rpc.pace import LONGEST_PAUSE_SECONDS, Pace
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.planning import Planning, Wakeups
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.commands import Reschedule
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
