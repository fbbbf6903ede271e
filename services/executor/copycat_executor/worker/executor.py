"""The executor at work: what runs in the background from its first beat on, and how it leaves."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from copycat_connect.beats import until_beat
from copycat_rpc.acts import ActReporter
from copycat_rpc.services import ServiceStubs

from copycat_executor.background import BackgroundJobs
from copycat_executor.connectors.connector_calls import AUTHOR_STOP_TIMEOUT_SECONDS
from copycat_executor.hosts.host_pools import HostPools
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.outbox.topic_outbox import TopicOutbox
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.state.feed import Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs
from copycat_executor.tasks.task_actions import DRAIN_MARGIN_SECONDS, Budgets
from copycat_executor.worker.conductor import Conductor
from copycat_executor.worker.membership import Membership
from copycat_executor.worker.watches import ConfigWatch, follow_assignments

log = logging.getLogger(__name__)

UPKEEP_INTERVAL_SECONDS = 0.5
#: A cluster may have no room for a host, and the worker can run connectors all the same.
WARM_HOST_TIMEOUT_SECONDS = 30.0
#: The end waits this long for what is still to be sent to other services.
LAST_REPORTS_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Executor:
    """One worker: from its first beat to its last. `wire` in `copycat_executor.wiring` makes one."""

    runs: Runs
    feed: Feed
    lease: WorkerLease
    hosts: HostPools
    statuses: StatusOutbox
    topics: TopicOutbox
    troubles: TroubleOutbox
    acts: ActReporter
    config_watch: ConfigWatch
    conductor: Conductor
    membership: Membership
    services: ServiceStubs
    budgets: Budgets
    jobs: BackgroundJobs

    def run(self) -> None:
        """Begin to work, in the background."""
        for name, loop in {
            "config watch": self.config_watch.run(),
            "assignment watch": follow_assignments(self.services, self.feed, self.lease),
            "conductor": self.conductor.run(),
            "membership": self._join(),
            "statuses": self.statuses.run(),
            "active topics": self.topics.run(),
            "troubles of tasks": self.troubles.run(),
            "acts": self.acts.run(),
            "upkeep of hosts": self._keep_up_hosts(),
            "tasks that hold up others": self.hosts.watch_shared(),
        }.items():
            self.jobs.spawn(loop, name)

    async def drain(self) -> None:
        """Leave in good order: tasks flush and commit, statuses are reported, hosts end (I7)."""
        budgets = self.budgets
        self.membership.leave()
        self.feed.drain()
        try:
            ends = max(budgets.drain + DRAIN_MARGIN_SECONDS + budgets.commit, AUTHOR_STOP_TIMEOUT_SECONDS)
            async with asyncio.timeout(ends + DRAIN_MARGIN_SECONDS):
                await self.runs.until(lambda: not self.runs.held())
        except TimeoutError:
            left = ", ".join(str(instance) for instance in self.runs.held())
            log.warning("ended before these had stopped: %s", left)
        if not await self.statuses.flushed(LAST_REPORTS_TIMEOUT_SECONDS):
            log.warning("the last statuses were not all reported to the status service")
        await self.hosts.close(LAST_REPORTS_TIMEOUT_SECONDS)

    async def _join(self) -> None:
        """Accept work once it can start at once: it may run well elsewhere until then."""
        try:
            async with asyncio.timeout(WARM_HOST_TIMEOUT_SECONDS):
                await self.hosts.warm()
        except TimeoutError:
            log.warning("no task host has started within %g s; joining without", WARM_HOST_TIMEOUT_SECONDS)
        await self.membership.run()

    async def _keep_up_hosts(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self.hosts.tend()
            await asyncio.sleep(until_beat(loop.time(), UPKEEP_INTERVAL_SECONDS))
