"""Calls into the process of the connectors, one connector at a time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from copycat_connect.cluster import Config

from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.connectors.lives import ConnectorLife
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.domain.plugin import Plugin

#: Author code gets this long to stop; then it is given up, seconds.
STOP = 5.0
#: How often a start is tried whose process died meanwhile: another connector may have ended it.
STARTS = 3


class ConnectorCalls:
    """Starts, asks and stops the connectors' objects; author code that hangs is given up."""

    def __init__(self, process: ConnectorProcess, deadline: float) -> None:
        """`deadline` is how long author code may take, seconds."""
        self._process = process
        self._deadline = deadline
        self._incarnations = itertools.count(1)

    async def start(self, life: ConnectorLife) -> None:
        """Make and start the connector's object.

        Raises:
            PluginError: The author's `start` raised.
            PluginHangsError: It did not come back.
            PluginProcessGoneError: The process died under it again and again.
        """
        for attempt in range(1, STARTS + 1):
            life.incarnation = next(self._incarnations)
            try:
                started = await self._process.call(
                    "start",
                    "starting the connector",
                    self._deadline,
                    incarnation=life.incarnation,
                    config=dict(life.config),
                )
            except PluginProcessGoneError:
                life.incarnation = 0
                if attempt == STARTS:
                    raise
            except PluginHangsError:
                self.abandon(life)
                raise
            else:
                life.plugin = _plugin(started)
                return

    async def know_plugin(self, life: ConnectorLife) -> None:
        """Learn the plugin of a connector that is not to run.

        Raises:
            CopycatError: There is no such plugin, or its process is gone.
        """
        found = await self._process.call(
            "plugin", "finding the connector's plugin", self._deadline, config=dict(life.config)
        )
        life.plugin = _plugin(found)

    async def task_configs(self, life: ConnectorLife, max_tasks: int) -> list[Config]:
        """Ask for task configurations.

        Raises:
            PluginError: The author's code raised.
            PluginHangsError: It did not come back; the object is given up.
            PluginProcessGoneError: The process died.
        """
        try:
            found = await self._process.call(
                "task_configs",
                f"generating task configs for connector {life.name}",
                self._deadline,
                incarnation=life.incarnation,
                max_tasks=max_tasks,
            )
        except PluginHangsError:
            self.abandon(life)
            raise
        return list(found)

    async def stop(self, life: ConnectorLife) -> None:
        """Stop the connector's object, if it has one; a dead process has none.

        Raises:
            PluginError: The author's `stop` raised; the object is gone all the same.
            PluginHangsError: It did not come back; the object is given up.
        """
        if not life.incarnation:
            return
        incarnation = life.incarnation
        stage = f"stopping connector {life.name}"
        try:
            await self._process.call("stop", stage, STOP, incarnation=incarnation)
        except PluginProcessGoneError:
            pass
        except PluginHangsError:
            self.abandon(life)
            raise
        finally:
            life.incarnation = 0

    def abandon(self, life: ConnectorLife) -> None:
        """Give the object up; if its author's code ever comes back, it is stopped."""
        if life.incarnation:
            self._process.tell("abandon", incarnation=life.incarnation)
        life.incarnation = 0


def _plugin(found: Mapping[str, Any]) -> Plugin:
    return Plugin(found["class"], found["type"], found["version"])
