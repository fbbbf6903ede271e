"""The executor put together: what is wanted, what runs, and everybody in between."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from copycat.config.v1 import config_service_pb2
from copycat_telemetry.metrics.sampled import Windows

from copycat_executor.background.bell import Bell
from copycat_executor.background.jobs import Jobs
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.query_engine import Queries
from copycat_executor.connectors.calls import STOP, ConnectorCalls
from copycat_executor.connectors.connectors import Connectors
from copycat_executor.connectors.publishing import Publishing
from copycat_executor.domain.residency import ResidencyRules
from copycat_executor.hosts.hosts import Hosts, Launcher
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.outbox.commits import Commits
from copycat_executor.outbox.offsets import Offsets
from copycat_executor.outbox.statuses import Statuses
from copycat_executor.outbox.topics import ActiveTopics
from copycat_executor.peers.services import Services
from copycat_executor.state.board import Board
from copycat_executor.state.feed import Feed
from copycat_executor.tasks.events import TaskEvents
from copycat_executor.tasks.lives import TaskLives
from copycat_executor.tasks.suspects import Suspects
from copycat_executor.tasks.tasks import MARGIN, Budgets, Tasks
from copycat_executor.worker.conductor import Conductor
from copycat_executor.worker.levels import set_level_everywhere
from copycat_executor.worker.membership import Membership
from copycat_executor.worker.restarting import Restarting
from copycat_executor.worker.watches import follow_assignments, follow_configs

log = logging.getLogger(__name__)

TEND = 1.0
#: How long the end waits for what is still to be told to other services, seconds.
LAST_WORDS = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What the settings allow."""

    residency: ResidencyRules
    budgets: Budgets
    plugin_call: float
    """For author code of a connector, seconds."""
    topic_tracking: bool
    """Whether active topics are recorded."""
    log_level: str
    """Of hosts."""
    windows: Windows
    """Over which metrics are sampled."""


class Executor:
    """One worker: from its first beat to its last."""

    def __init__(
        self,
        worker_id: str,
        worker: Mapping[str, str],
        limits: Limits,
        *,
        services: Services,
        launcher: Launcher,
        host_token: str,
        process: ConnectorProcess,
        queries: Queries,
        jobs: Jobs,
    ) -> None:
        """Wire everything; nothing runs yet."""
        self._jobs, self._limits, self._process = jobs, limits, process
        bell = Bell()
        self.board = Board(bell)
        self._feed = Feed(
            worker_id,
            bell,
            restart=self._restart,
            level=self._set_level,
            removed=self._removed,
        )
        self.meter = WorkerMeter(self.board, limits.windows, clock=time.monotonic, wall=time.time)
        self._statuses = Statuses(worker_id, services, self._feed.is_configured, self.meter)
        self._topics = ActiveTopics(services, self._feed.is_configured, tracking=limits.topic_tracking)
        commits, offsets = Commits(services, jobs, self._feed.generation_for), Offsets(services)
        suspects = Suspects()
        self.hosts = Hosts(
            launcher,
            limits.residency,
            address=worker_id,
            token=host_token,
            log_level=limits.log_level,
            failed_plugins=lambda: process.failed_plugins,
        )
        lives = TaskLives(self.board, self._feed, self.hosts, self._statuses)
        self.events = TaskEvents(
            board=self.board,
            lives=lives,
            suspects=suspects,
            commits=commits,
            offsets=offsets,
            topics=self._topics,
            queries=queries,
            meter=self.meter,
            jobs=jobs,
        )
        self.hosts.residents = self.events
        tasks = Tasks(
            board=self.board,
            feed=self._feed,
            hosts=self.hosts,
            lives=lives,
            suspects=suspects,
            commits=commits,
            offsets=offsets,
            meter=self.meter,
            jobs=jobs,
            budgets=limits.budgets,
            worker=worker,
        )
        calls = ConnectorCalls(process, limits.plugin_call)
        self.connectors = Connectors(
            board=self.board,
            feed=self._feed,
            calls=calls,
            publishing=Publishing(calls, services, self._feed, bell),
            statuses=self._statuses,
            meter=self.meter,
            jobs=jobs,
        )
        self.restarting = Restarting(self.board, self._feed, self._statuses, suspects)
        self.membership = Membership(worker_id, services, self.board)
        self._conductor = Conductor(self.board, self._feed, self.connectors, tasks)
        self._services = services

    def run(self) -> None:
        """Begin to work, in the background."""
        for name, loop in {
            "config watch": follow_configs(self._services, self._feed),
            "assignment watch": follow_assignments(self._services, self._feed),
            "conductor": self._conductor.run(),
            "membership": self.membership.run(),
            "statuses": self._statuses.run(),
            "active topics": self._topics.run(),
            "upkeep of hosts": self._tend(),
        }.items():
            self._jobs.spawn(loop, name)

    async def drain(self) -> None:
        """Leave in good order: tasks flush and commit, statuses are told, hosts end (I7)."""
        budgets = self._limits.budgets
        self.membership.leave()
        self._feed.drain()
        try:
            async with asyncio.timeout(max(budgets.drain + MARGIN + budgets.commit, STOP) + MARGIN):
                await self.board.until(lambda: not self.board.held())
        except TimeoutError:
            left = ", ".join(str(instance) for instance in self.board.held())
            log.warning("left without a full drain of: %s", left)
        if not await self._statuses.flushed(LAST_WORDS):
            log.warning("the status service was not told of every last status")
        await self.hosts.close(LAST_WORDS)

    async def _tend(self) -> None:
        while True:
            self.hosts.tend()
            await asyncio.sleep(TEND)

    def _restart(self, request: config_service_pb2.RequestRestartRequest) -> None:
        self.restarting.requested(request)

    def _removed(self, connector: str) -> None:
        """A connector is gone: what was still to be said of it would bring its status back."""
        self._statuses.forget(connector)
        self._topics.forget(connector)
        self.restarting.removed(connector)

    def _set_level(self, request: config_service_pb2.SetLoggerLevelRequest) -> None:
        set_level_everywhere(request, self._process, self.hosts)
