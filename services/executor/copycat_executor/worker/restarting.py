"""Restarts a user asks for: with flags from the config topic, of single instances by call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from copycat.config.v1 import config_service_pb2
from copycat_connect.cluster import Instance

from copycat_executor.domain.errors import RestartFailedError, UnassignedInstanceError
from copycat_executor.domain.restarts import chosen
from copycat_executor.domain.running import Phase, RunningConnector, RunningTask
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.state.board import Board
from copycat_executor.state.feed import Feed
from copycat_executor.state.healer import Healer
from copycat_executor.tasks.suspects import Suspects

#: For callers without a deadline of their own.
MAX_WAIT_SECONDS = 600.0


class Restarting:
    """Marks instances for a restart; the conductor does the rest."""

    def __init__(
        self, board: Board, feed: Feed, statuses: StatusOutbox, suspects: Suspects, healer: Healer
    ) -> None:
        self._board = board
        self._feed = feed
        self._statuses = statuses
        self._suspects = suspects
        self._healer = healer

    def requested(self, request: config_service_pb2.RequestRestartRequest) -> None:
        """Restart what a logged request means of what runs here."""
        running = self._board.running((request.connector,))
        found = chosen(
            running, request.connector, include_tasks=request.include_tasks, only_failed=request.only_failed
        )
        for instance in found:
            generation = self._board.held()[instance]
            self._statuses.report(instance, status_outbox.RESTARTING, generation)
            self._mark(instance)

    def removed(self, connector: str) -> None:
        """A connector was deleted: what runs of it is not what may come after it under its name."""
        for instance in (Instance(connector), *self._board.tasks_of(connector)):
            self._mark(instance)

    async def connector(self, name: str) -> None:
        """Restart a connector; returns once it runs and its task configurations were asked for.

        Raises:
            UnassignedInstanceError: It does not run here.
            RestartFailedError: It did not come up.
        """
        instance = Instance(name)
        if name not in self._board.connectors:
            raise UnassignedInstanceError(instance)
        self._mark(instance)
        await self._until(lambda: _is_up(self._board.connectors.get(name)), instance)
        if self._board.connectors[name].phase is Phase.FAILED:
            raise RestartFailedError(instance)

    async def task(self, instance: Instance) -> None:
        """Restart a task; returns once it starts.

        Raises:
            UnassignedInstanceError: It does not run here.
            RestartFailedError: Its former self did not end.
        """
        if instance not in self._board.tasks:
            raise UnassignedInstanceError(instance)
        self._mark(instance)
        await self._until(lambda: _is_new(self._board.tasks.get(instance)), instance)

    async def _until(self, back: Callable[[], bool], instance: Instance) -> None:
        """Wait until an instance is back, unless it is taken away from this worker meanwhile."""
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self._board.until(lambda: back() or not self._wanted(instance))
        except TimeoutError:
            raise RestartFailedError(instance) from None
        if not back():
            raise UnassignedInstanceError(instance)

    def _wanted(self, instance: Instance) -> bool:
        return self._feed.wants(instance) or self._feed.wants(Instance(instance.connector))

    def _mark(self, instance: Instance) -> None:
        self._suspects.forget(instance)
        self._healer.forget(instance)
        if instance.task is None:
            self._board.change_connector(instance.connector, restart=True)
        else:
            self._board.change_task(instance, restart=True)


def _is_up(connector: RunningConnector | None) -> bool:
    if connector is None or connector.restart:
        return False
    busy = connector.changing or connector.publishing or connector.publish_due
    return connector.phase is Phase.FAILED or (connector.phase is Phase.SETTLED and not busy)


def _is_new(task: RunningTask | None) -> bool:
    return task is not None and not task.restart
