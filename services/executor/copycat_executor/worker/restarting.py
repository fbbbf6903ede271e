"""Restarts a user asks for: with flags from the config topic, of single instances by call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from copycat.config.v1 import config_service_pb2
from copycat_connect.cluster import Instance

from copycat_executor.domain.errors import RestartFailedError, UnassignedInstanceError
from copycat_executor.domain.running import Phase, RunningConnector, RunningTask, instances_to_restart
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.state.feed import Feed
from copycat_executor.state.recovery import Recovery
from copycat_executor.state.runs import ConnectorRun, Runs, TaskRun

#: For callers without a deadline of their own.
MAX_WAIT_SECONDS = 600.0


class Restarting:
    """Marks instances for a restart; the conductor does the rest."""

    def __init__(self, runs: Runs, feed: Feed, statuses: StatusOutbox, recovery: Recovery) -> None:
        self._runs = runs
        self._feed = feed
        self._statuses = statuses
        self._recovery = recovery

    def requested(self, request: config_service_pb2.RequestRestartRequest) -> None:
        """Restart what a logged request means of what runs here."""
        running = self._runs.running((request.connector,))
        found = instances_to_restart(
            running, request.connector, include_tasks=request.include_tasks, only_failed=request.only_failed
        )
        for instance in found:
            run = self._runs.find(instance)
            if run is not None and run.running is not None:
                run.measure_state(status_outbox.RESTARTING)
                self._statuses.report(instance, status_outbox.RESTARTING, run.running.generation)
                self._mark(run)

    def removed(self, connector: str) -> None:
        """Restart what runs of a deleted connector: it is not what may come after it under its name."""
        for run in self._runs.of(connector):
            self._mark(run)
            if run.running is None:
                run.leave()

    async def connector(self, name: str) -> None:
        """Restart a connector; returns once it runs and its task configurations were asked for.

        Raises:
            UnassignedInstanceError: It does not run here.
            RestartFailedError: It did not come up.
        """
        instance = Instance(name)
        await self._restart(instance, _is_up)
        if self._runs.connector(name).phase is Phase.FAILED:
            raise RestartFailedError(instance)

    async def task(self, instance: Instance) -> None:
        """Restart a task; returns once it starts.

        Raises:
            UnassignedInstanceError: It does not run here.
            RestartFailedError: Its former self did not end.
        """
        await self._restart(instance, _is_new)

    async def _restart(
        self, instance: Instance, back: Callable[[RunningConnector | RunningTask], bool]
    ) -> None:
        """Restart an instance; returns once it is back, unless it is taken away meanwhile."""
        run = self._runs.find(instance)
        if run is None or run.running is None:
            raise UnassignedInstanceError(instance)
        self._mark(run)

        def is_back() -> bool:
            now = self._runs.find(instance)
            return now is not None and now.running is not None and back(now.running)

        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self._runs.until(lambda: is_back() or not self._wanted(instance))
        except TimeoutError:
            raise RestartFailedError(instance) from None
        if not is_back():
            raise UnassignedInstanceError(instance)

    def _wanted(self, instance: Instance) -> bool:
        return self._feed.wants(instance) or self._feed.wants(Instance(instance.connector))

    def _mark(self, run: ConnectorRun | TaskRun) -> None:
        self._recovery.forget(run)
        run.change(restart=True)


def _is_up(connector: RunningConnector | RunningTask) -> bool:
    if connector.restart or isinstance(connector, RunningTask):
        return False
    busy = connector.changing or connector.publishing or connector.publish_due
    return connector.phase is Phase.FAILED or (connector.phase is Phase.SETTLED and not busy)


def _is_new(task: RunningConnector | RunningTask) -> bool:
    return not task.restart
