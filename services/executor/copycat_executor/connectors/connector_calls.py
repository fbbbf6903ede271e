"""Calls into the process of the connectors, one connector at a time."""

from __future__ import annotations

import itertools
from typing import Final

from copycat_connect.cluster import Config

from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.connectors.connector_life import ConnectorLife
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.pipes.connector_messages import (
    AbandonConnector,
    ConnectorCall,
    FindPlugin,
    MakeTaskConfigs,
    StartConnector,
    StopConnector,
)
from copycat_executor.pipes.messages import T

#: Author code gets this long to stop; then it is given up.
AUTHOR_STOP_TIMEOUT_SECONDS: Final = 5.0


class ConnectorCalls:
    """Starts, asks and stops the connectors' objects; author code that hangs is given up."""

    def __init__(self, processes: ConnectorProcesses, deadline: float) -> None:
        """`deadline` is how long author code may take, seconds."""
        self._processes = processes
        self._deadline = deadline
        self._incarnations = itertools.count(1)

    async def start(self, life: ConnectorLife) -> None:
        """Make and start the connector's object, again when its process ends that others share.

        Raises:
            PluginError: The author's `start` raised.
            PluginHangsError: It did not come back.
            PluginProcessGoneError: It ended the process that it had for itself.
        """
        while True:
            life.incarnation = next(self._incarnations)
            self._processes.enter(life.name)
            try:
                call = StartConnector(life.incarnation, life.config)
                life.plugin = await self._call(life, call, "starting the connector", self._deadline)
            except PluginProcessGoneError as error:
                life.incarnation = 0
                if error.alone:
                    raise
            except PluginHangsError:
                self.abandon(life, hung=True)
                raise
            if self._processes.has(life.name):  # its process may have ended right after the answer
                return

    async def find_plugin(self, life: ConnectorLife) -> None:
        """Learn the plugin of a connector that is not to run.

        Raises:
            CopycatError: There is no such plugin, or its process is gone.
        """
        call = FindPlugin(life.config)
        life.plugin = await self._processes.ask(call, "finding the connector's plugin", self._deadline)

    async def task_configs(self, life: ConnectorLife, max_tasks: int) -> list[Config]:
        """Ask for task configurations.

        Raises:
            PluginError: The author's code raised.
            PluginHangsError: It did not come back; the object is given up.
            PluginProcessGoneError: The process died.
        """
        call = MakeTaskConfigs(life.incarnation, max_tasks)
        stage = f"generating task configs for connector {life.name}"
        try:
            made = await self._call(life, call, stage, self._deadline)
        except PluginHangsError:
            self.abandon(life, hung=True)
            raise
        return list(made)

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
            await self._call(life, StopConnector(incarnation), stage, AUTHOR_STOP_TIMEOUT_SECONDS)
        except PluginProcessGoneError:
            pass
        except PluginHangsError:
            self.abandon(life, hung=True)
            raise
        finally:
            life.incarnation = 0
            self._processes.leave(life.name, None, hung=False)

    def abandon(self, life: ConnectorLife, *, hung: bool = False) -> None:
        """Give the object up; if its author's code ever comes back, it is stopped."""
        if life.incarnation:
            self._processes.leave(life.name, AbandonConnector(life.incarnation), hung=hung)
        life.incarnation = 0

    async def _call(
        self, life: ConnectorLife, call: ConnectorCall[T], stage: str, deadline_seconds: float
    ) -> T:
        return await self._processes.call(life.name, call, stage, deadline_seconds)
