"""The loop that keeps the assignments as they should be: level-triggered, woken by whatever changes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError
from copycat_eventlog.json_text import MAX_GENERATION
from copycat_rpc.acts import ActReporter
from copycat_rpc.pace import LoopPace
from copycat_telemetry.changes import log_change
from copycat_telemetry.recent_spans import RecentSpans
from copycat_telemetry.tracing import Attributes, note_span

from copycat_scheduler.adapters.change_lines import AssignmentLines
from copycat_scheduler.adapters.event_sourced import SchedulerEvents
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.commands import Reschedule
from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned
from copycat_scheduler.domain.leases import Leases
from copycat_scheduler.domain.views import assigned_workers, highest_generation

log = logging.getLogger(__name__)

#: How often an instance that does not lead looks whether it does now.
STANDBY_POLL_SECONDS = 0.1
RETRY_DELAY_SECONDS = 0.5
#: Changes that come within this time are planned for together: a plan looks at every connector, and a change
#: seldom comes alone.
CHANGES_TOGETHER_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Wakeups:
    """Set by whoever changes something, so that no loop has to look again and again."""

    plan: asyncio.Event = field(default_factory=asyncio.Event)
    """The assignments may have to change."""
    upkeep: asyncio.Event = field(default_factory=asyncio.Event)
    """Statuses may be wrong."""


class Planning:
    """Plans whenever it is woken or a lease runs out, while this instance leads."""

    def __init__(
        self,
        events: SchedulerEvents,
        workers: LiveWorkers,
        inputs: Inputs,
        wakeups: Wakeups,
        rebalances: Rebalances,
        *,
        acts: ActReporter,
    ) -> None:
        """Plan nothing before `run`; `rebalances` counts the plans."""
        self._events = events
        self._workers = workers
        self._inputs = inputs
        self._wakeups = wakeups
        self._rebalances = rebalances
        self._last_generation = 0
        self._pace = LoopPace(CHANGES_TOGETHER_SECONDS)
        self._lines = AssignmentLines(acts)

    async def run(self) -> None:
        """Plan until cancelled."""
        while True:
            if not self._events.leads:
                self._workers.stand_down()
                self._rebalances.stood_down()
                await asyncio.sleep(STANDBY_POLL_SECONDS)
                continue
            try:
                planned_at = await self._plan()
            except CopycatError as error:
                log_change(log, "work cannot be assigned now", logging.WARNING, why=error.message)
                await asyncio.sleep(RETRY_DELAY_SECONDS)
            else:
                await self._until_due(planned_at)

    async def _until_due(self, planned_at: float) -> None:
        """Wait for a change, or until time alone changes something since the last plan."""
        deadline = self._deadline(planned_at)
        try:
            async with asyncio.timeout_at(deadline):
                await self._wakeups.plan.wait()
                await self._pace.gather()
        except TimeoutError:
            pass
        self._wakeups.plan.clear()

    def _deadline(self, now: float) -> float | None:
        """Return when the next lease or wait ends after `now`; None when nothing changes by time alone."""
        leases = self._workers.heard_of
        known = assigned_workers(self._events.state).union(self._inputs.statuses.running.values())
        ends = [leases.next_deadline(known, now)]
        if not self._inputs.suffice(leases, now):
            ends.append(leases.first_end)
        return min((end for end in ends if end is not None), default=None)

    async def _plan(self) -> float:
        """Plan for this moment, and return it: what ends while a plan is made is not in it."""
        leases, now = self._workers.expire(), self._now()
        self._inputs.want_topics()
        if not self._inputs.suffice(leases, now):
            return now
        self._pace.begin()
        state, began = self._events.state, time.time_ns()
        world = self._inputs.world(state, leases, self._next_generation(leases), now)
        outcome = await self._events.execute(world)
        _trace(outcome.events, self._inputs.connectors.spans, began)
        if outcome.events:
            self._carried_out(outcome.events, state.assignments, world)
        self._rebalances.planned(self._highest_generation(), changed=bool(outcome.events))
        self._wakeups.upkeep.set()
        return now

    def _carried_out(
        self, events: tuple[SchedulerEvent, ...], before: Mapping[Instance, Assigned], world: Reschedule
    ) -> None:
        self._last_generation = world.generation
        self._lines.log(events, before, world)
        self._workers.taken(before[each.instance] for each in events if isinstance(each, Unassigned))
        self._wakeups.plan.set()  # what was taken from nobody can be given at once

    def _next_generation(self, leases: Leases) -> int:
        """Return a number above every generation that is known anywhere.

        The log position alone would do, had nobody ever replaced the log. Only a record that another program
        wrote can be at the limit: then generations end there, and the worker shows what follows.
        """
        seen = [self._highest_generation(), self._inputs.statuses.highest]
        seen += [generation for session in leases.sessions.values() for generation in session.held.values()]
        return min(MAX_GENERATION, max(self._events.revision.next.get(0, 0), 1 + max(seen)))

    def _highest_generation(self) -> int:
        return max(self._last_generation, highest_generation(self._events.state))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _trace(events: Iterable[SchedulerEvent], spans: RecentSpans, began: int) -> None:
    """Note what a plan meant for each connector whose change had led to it."""
    for connector, changes in Counter(event.instance.connector for event in events).items():
        attributes: Attributes = {"copycat.connector": connector, "copycat.assignments": changes}
        note_span(spans.of(connector), "assign", began, attributes)
