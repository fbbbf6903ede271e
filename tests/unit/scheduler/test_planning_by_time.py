"""What ends while a plan is made is planned for right after it: nothing else may ever wake the loop."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from copycat_connect.cluster import Instance
from copycat_eventlog.memory import MemoryLog
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.planning import Planning, Wakeups
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.commands import Reschedule
from copycat_scheduler.domain.leases import Leases
from copycat_scheduler.domain.state import SchedulerState
from copycat_testkit.simulated import let_pass, simulated

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
