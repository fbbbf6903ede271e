"""The loop that keeps the assignments as they should be: level-triggered, woken by whatever changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError, NotWriterError
from copycat_eventlog.handler import EventSourced

from copycat_scheduler.adapters.change_lines import AssignmentLines, log_beat, log_left, log_lost
from copycat_scheduler.adapters.clusters import ClusterCatalogs
from copycat_scheduler.adapters.connectors import Connectors
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.adapters.statuses import Statuses
from copycat_scheduler.domain.commands import Reschedule
from copycat_scheduler.domain.events import SchedulerEvent, Unassigned
from copycat_scheduler.domain.leases import Leases, Session
from copycat_scheduler.domain.state import SchedulerState
from copycat_scheduler.domain.upkeep import Upkeep, upkeep

log = logging.getLogger(__name__)

SchedulerEvents = EventSourced[Reschedule, SchedulerEvent, SchedulerState]
#: How often an instance that does not lead looks whether it does now.
STANDBY = 0.1
AFTER_FAILURE = 0.5
#: In which changes count as one: a plan looks at every connector, and a change seldom comes alone.
TOGETHER = 0.02


@dataclass(frozen=True, slots=True)
class Bells:
    """Rung by whoever changes something, so that nobody has to look again and again."""

    plan: asyncio.Event = field(default_factory=asyncio.Event)
    """A plan may be due."""
    upkeep: asyncio.Event = field(default_factory=asyncio.Event)
    """Statuses may be wrong."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a plan is made from, besides the assignments and the workers."""

    connectors: Connectors
    """What should run."""
    statuses: Statuses
    """What runs."""
    catalog: ClusterCatalogs
    """What sinks read."""


class Planning:
    """Holds the leases, and plans whenever its bell rings or a lease runs out, while this instance leads."""

    def __init__(
        self,
        events: SchedulerEvents,
        inputs: Inputs,
        bells: Bells,
        *,
        lease: float,
        delay: float,
        rebalances: Rebalances,
    ) -> None:
        """Plan nothing before `run`.

        Args:
            events: The assignments.
            inputs: What the world looks like.
            bells: Rung when something changed.
            lease: Seconds a worker may be silent.
            delay: Seconds the work of a lost worker waits for it.
            rebalances: Told of every plan.
        """
        self._rebalances = rebalances
        self._events = events
        self._inputs = inputs
        self._bells = bells
        self._fresh = Leases(since=0.0, length=lease, delay=delay)
        self._leases: Leases | None = None
        self._issued = 0
        self._lines = AssignmentLines()

    @property
    def leases(self) -> Leases:
        """The workers of this moment.

        Raises:
            NotWriterError: Workers join the instance that leads.
        """
        if not self._events.leads:
            raise NotWriterError("This instance of the scheduler does not lead; the workers are with another")
        if self._leases is None:
            self._leases = self._fresh.begun(self._now())
        return self._leases

    def beat(self, worker_id: str, held: Mapping[Instance, int], leaving: bool) -> None:
        """Take a worker's beat; NotWriterError when this instance does not lead."""
        before = self.leases
        after = before.beat(Session(worker_id, held, leaving, self._now()))
        self._leases = after
        log_beat(before, after, worker_id)
        if not after.same_work(before, worker_id):
            self._bells.plan.set()

    def left(self, worker_id: str) -> None:
        """Take the end of a worker's stream: a lost connection, unless it said goodbye before."""
        if self._leases is not None:
            before, self._leases = self._leases, self._leases.left(worker_id)
            log_left(before, self._leases)

    async def run(self) -> None:
        """Plan until cancelled."""
        while True:
            if not self._events.leads:
                self._leases = None
                self._rebalances.stood_down()
                await asyncio.sleep(STANDBY)
                continue
            try:
                await self._plan()
            except CopycatError as error:
                log.warning("cannot assign work at the moment: %s", error)
                await asyncio.sleep(AFTER_FAILURE)
            else:
                await self._due()

    def upkeep(self) -> Upkeep:
        """Return what the statuses get wrong as far as this instance can tell."""
        inputs, now = self._inputs, self._now()
        if not self._events.leads or not (inputs.connectors.known and inputs.statuses.known):
            return Upkeep()
        leases, assigned = self.leases, self._events.state.assignments
        desired = inputs.connectors.desired(inputs.catalog.partitions)
        return upkeep(desired, inputs.statuses.observed, set(assigned), lambda name: leases.there(name, now))

    async def _due(self) -> None:
        """Wait for news, or until time alone changes something."""
        deadline = self._deadline(self._leases or self._fresh)
        try:
            async with asyncio.timeout_at(deadline):
                await self._bells.plan.wait()
                await asyncio.sleep(TOGETHER)
        except TimeoutError:
            pass
        self._bells.plan.clear()
        if deadline is not None and self._leases and self._now() > deadline + self._fresh.length / 2:
            # It was we who slept: nobody's lease may end before its worker had a chance to be heard.
            self._leases = self._leases.renew(self._now())

    def _deadline(self, leases: Leases) -> float | None:
        now = self._now()
        named = {assigned.worker_id for assigned in self._events.state.assignments.values()}
        named.update(self._inputs.statuses.running.values())
        ends = [leases.next_deadline(named, now), None if self._informed(leases, now) else leases.first_end]
        return min((end for end in ends if end is not None), default=None)

    async def _plan(self) -> None:
        inputs, now = self._inputs, self._now()
        known = self.leases
        leases = self._leases = known.expire(now)
        log_lost(known, leases)
        inputs.catalog.want(inputs.connectors.subscriptions)
        if not self._informed(leases, now):
            return
        before = self._events.state.assignments
        world = self._world(leases, now)
        outcome = await self._events.execute(world)
        if outcome.events:
            self._issued = world.generation
            self._lines.log(outcome.events, before, world)
            taken = [before[each.instance] for each in outcome.events if isinstance(each, Unassigned)]
            self._leases = self.leases.taken(taken, self._now())
            self._bells.plan.set()  # what was taken from nobody can be given at once
        self._rebalances.planned(self._newest(), changed=bool(outcome.events))
        self._bells.upkeep.set()

    def _informed(self, leases: Leases, now: float) -> bool:
        """Whether enough is known to plan; statuses are waited for one lease and no longer."""
        inputs = self._inputs
        return inputs.connectors.known and (inputs.statuses.known or now >= leases.first_end)

    def _world(self, leases: Leases, now: float) -> Reschedule:
        inputs, assignments = self._inputs, self._events.state.assignments
        workers = {each.worker_id for each in assignments.values()}
        return Reschedule(
            desired=inputs.connectors.desired(inputs.catalog.partitions),
            workers=leases.taking,
            absent={name for name in workers if leases.expected(name, now)},
            held=leases.holders(assignments.values(), inputs.statuses.running, now),
            former=inputs.statuses.former,
            generation=self._generation(leases),
        )

    def _generation(self, leases: Leases) -> int:
        """Return a number above every generation that is known anywhere.

        The log position alone would do, had nobody ever replaced the log.
        """
        seen = [self._newest(), self._inputs.statuses.highest]
        seen += [generation for session in leases.sessions.values() for generation in session.held.values()]
        return max(self._events.revision.next.get(0, 0), 1 + max(seen))

    def _newest(self) -> int:
        """Return the highest generation that is known to be given out."""
        assigned = self._events.state.assignments.values()
        return max([self._issued, *(each.generation for each in assigned)])

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
