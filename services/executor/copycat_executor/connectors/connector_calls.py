"""Calls into the process of the connectors, one connector at a time."""

from __future__ import annotations

import itertools
from typing import Final

from copycat_connect.cluster import Config

from copycat_executor.children.connector_processes import ConnectorProcesses
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
from copycat_executor.state.runs import ConnectorStart

#: Author code gets this long to stop; then it is given up.
AUTHOR_STOP_TIMEOUT_SECONDS: Final = 5.0


class ConnectorCalls:
    """Starts, asks and stops the connectors' objects; author code that hangs is given up."""

    def __init__(self, processes: ConnectorProcesses, deadline: float) -> None:
        """`deadline` is how long author code may take, seconds."""
        self._processes = processes
        self._deadline = deadline
        self._incarnations = itertools.count(1)

    async def start(self, start: ConnectorStart) -> None:
        """Make and start the connector's object, again when its process ends that others share.

        Raises:
            PluginError: The author's `start` raised.
            PluginHangsError: It did not come back.
            PluginProcessGoneError: It ended the process that it had for itself.
        """
        while True:
            start.incarnation = next(self._incarnations)
            self._processes.enter(start.name)
            try:
                call = StartConnector(start.incarnation, start.config)
                start.plugin = await self._call(start, call, "starting the connector", self._deadline)
            except PluginProcessGoneError as error:
                start.incarnation = 0
                if error.alone:
                    raise
            except PluginHangsError:
                self.abandon(start, hung=True)
                raise
            if self._processes.has(start.name):  # its process may have ended right after the answer
                return

    async def find_plugin(self, start: ConnectorStart) -> None:
        """Learn the plugin of a connector that is not to run.

        Raises:
            CopycatError: There is no such plugin, or its process is gone.
        """
        call = FindPlugin(start.config)
        start.plugin = await self._processes.ask(call, "finding the connector's plugin", self._deadline)

    async def task_configs(self, start: ConnectorStart, max_tasks: int) -> list[Config]:
        """Ask for task configurations.

        Raises:
            PluginError: The author's code raised.
            PluginHangsError: It did not come back; the object is given up.
            PluginProcessGoneError: The process died.
        """
        call = MakeTaskConfigs(start.incarnation, max_tasks)
        stage = f"generating task configs for connector {start.name}"
        try:
            made = await self._call(start, call, stage, self._deadline)
        except PluginHangsError:
            self.abandon(start, hung=True)
            raise
        return list(made)

    async def stop(self, start: ConnectorStart) -> None:
        """Stop the connector's object, if it has one; a dead process has none.

        Raises:
            PluginError: The author's `stop` raised; the object is gone all the same.
            PluginHangsError: It did not come back; the object is given up.
        """
        if not start.incarnation:
            return
        incarnation = start.incarnation
        stage = f"stopping connector {start.name}"
        try:
            await self._call(start, StopConnector(incarnation), stage, AUTHOR_STOP_TIMEOUT_SECONDS)
        except PluginProcessGoneError:
            pass
        except PluginHangsError:
            self.abandon(start, hung=True)
            raise
        finally:
            start.incarnation = 0
            self._processes.leave(start.name, None, hung=False)

    def abandon(self, start: ConnectorStart, *, hung: bool = False) -> None:
        """Give the object up; if its author's code ever comes back, it is stopped."""
        if start.incarnation:
            self._processes.leave(start.name, AbandonConnector(start.incarnation), hung=hung)
        start.incarnation = 0

    async def _call(
        self, start: ConnectorStart, call: ConnectorCall[T], stage: str, deadline_seconds: float
    ) -> T:
        return await self._processes.call(start.name, call, stage, deadline_seconds)
