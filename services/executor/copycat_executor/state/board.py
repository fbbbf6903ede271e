"""The board: what this executor runs at the moment, changed only from its event loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from copycat_connect.cluster import Instance

from copycat_executor.background.bell import Bell
from copycat_executor.domain.running import Running, RunningConnector, RunningTask


class Board:
    """Running connectors and tasks; every change rings the bell."""

    def __init__(self, bell: Bell) -> None:
        self.bell = bell
        self.connectors: dict[str, RunningConnector] = {}
        self.tasks: dict[Instance, RunningTask] = {}

    def running(self) -> Running:
        """Return all that runs now."""
        return Running(dict(self.connectors), dict(self.tasks))

    def held(self) -> dict[Instance, int]:
        """Return the instances this executor runs, starts or drains, with their generations."""
        connectors = {Instance(name): runs.generation for name, runs in self.connectors.items()}
        return {**connectors, **{instance: runs.generation for instance, runs in self.tasks.items()}}

    def put_connector(self, name: str, connector: RunningConnector) -> None:
        """Note that a connector runs here, in place of what was known of it."""
        self.connectors[name] = connector
        self.bell.ring()

    def change_connector(self, name: str, **changes: Any) -> None:
        """Change what is known of a connector; nothing happens when it is gone."""
        if name in self.connectors:
            self.put_connector(name, replace(self.connectors[name], **changes))

    def drop_connector(self, name: str) -> None:
        """Note that a connector runs here no longer."""
        if self.connectors.pop(name, None) is not None:
            self.bell.ring()

    def put_task(self, instance: Instance, task: RunningTask) -> None:
        """Note that a task runs here, in place of what was known of it."""
        self.tasks[instance] = task
        self.bell.ring()

    def change_task(self, instance: Instance, **changes: Any) -> None:
        """Change what is known of a task; nothing happens when it is gone."""
        if instance in self.tasks:
            self.put_task(instance, replace(self.tasks[instance], **changes))

    def drop_task(self, instance: Instance) -> None:
        """Note that a task runs here no longer."""
        if self.tasks.pop(instance, None) is not None:
            self.bell.ring()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition on the board holds."""
        rings = self.bell.rings
        while not holds():
            rings = await self.bell.next_ring(rings)
