"""Keeps what runs as it is wanted: one pure decision after changes, carried out at once."""

from __future__ import annotations

import asyncio
from typing import Final, assert_never

from copycat_executor.connectors.connector_actions import ConnectorActions
from copycat_executor.domain.reconcile import (
    Action,
    ConnectorToStart,
    ConnectorToStop,
    PublishTasks,
    SetConnectorTarget,
    SetTaskTarget,
    StartTask,
    StopTask,
)
from copycat_executor.state.differences import Differences
from copycat_executor.state.feed import Feed
from copycat_executor.state.runs import Runs
from copycat_executor.tasks.task_actions import TaskActions

#: Changes within this time count as one: a change seldom comes alone.
CHANGE_GATHERING_SECONDS: Final = 0.02


class Conductor:
    """Compares what should run with what runs after each change, and carries out the difference."""

    def __init__(self, runs: Runs, feed: Feed, connectors: ConnectorActions, tasks: TaskActions) -> None:
        self._runs = runs
        self._differences = Differences(feed, runs)
        self._connectors = connectors
        self._tasks = tasks

    async def run(self) -> None:
        """Act on every change of what is wanted or what runs, a moment later."""
        seen_changes = -1
        while True:
            await self._runs.changes.wait(seen_changes)
            await asyncio.sleep(CHANGE_GATHERING_SECONDS)
            seen_changes = self._runs.changes.count
            for action in self._differences.due():
                self._perform(action)

    def _perform(self, action: Action) -> None:
        match action:
            case ConnectorToStart(wanted):
                self._connectors.start(wanted)
            case SetConnectorTarget(name, target):
                self._connectors.set_target(name, target)
            case ConnectorToStop(name):
                self._connectors.stop(name)
            case PublishTasks(name):
                self._connectors.publish(name)
            case StartTask(task):
                self._tasks.start(task)
            case SetTaskTarget(instance, target):
                self._tasks.set_target(instance, target)
            case StopTask(instance):
                self._tasks.stop(instance)
            case _:
                assert_never(action)
