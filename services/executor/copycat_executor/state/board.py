"""The board: what this executor runs at the moment, changed only from its event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from copycat_connect.cluster import Instance

from copycat_executor.background.bell import Bell
from copycat_executor.domain.running import Running, RunningConnector, RunningTask
from copycat_executor.state.touched import Touched


class Board:
    """Running connectors and tasks; every change rings the bell and is noted by connector."""

    def __init__(self, bell: Bell) -> None:
        self.bell = bell
        self.connectors: dict[str, RunningConnector] = {}
        self.tasks: dict[Instance, RunningTask] = {}
        self._tasks_of: dict[str, dict[Instance, None]] = {}
        self.touched = Touched()
        """Connectors of which something changed here."""
        self.lists = 0
        """How many different lists `held` has returned, or would have."""

    def running(self, names: Iterable[str] | None = None) -> Running:
        """Return what runs now of these connectors; None is of all."""
        if names is None:
            return Running(dict(self.connectors), dict(self.tasks))
        found = {name: self.connectors[name] for name in names if name in self.connectors}
        return Running(found, {task: self.tasks[task] for name in names for task in self.tasks_of(name)})

    def tasks_of(self, connector: str) -> Sequence[Instance]:
        """Return the tasks of a connector that run here."""
        return tuple(self._tasks_of.get(connector, ()))

    def held(self) -> dict[Instance, int]:
        """Return the instances this executor runs, starts or drains, with their generations."""
        connectors = {Instance(name): runs.generation for name, runs in self.connectors.items()}
        return {**connectors, **{instance: runs.generation for instance, runs in self.tasks.items()}}

    def put_connector(self, name: str, connector: RunningConnector) -> None:
        """Note that a connector runs here, in place of what was known of it."""
        self._list(self.connectors.get(name), connector)
        self.connectors[name] = connector
        self._changed(name)

    def change_connector(self, name: str, **changes: Any) -> None:
        """Change what is known of a connector; nothing happens when it is gone."""
        if name in self.connectors:
            self.put_connector(name, replace(self.connectors[name], **changes))

    def drop_connector(self, name: str) -> None:
        """Note that a connector runs here no longer."""
        if self.connectors.pop(name, None) is not None:
            self._drop(name)

    def put_task(self, instance: Instance, task: RunningTask) -> None:
        """Note that a task runs here, in place of what was known of it."""
        self._list(self.tasks.get(instance), task)
        self.tasks[instance] = task
        self._tasks_of.setdefault(instance.connector, {})[instance] = None
        self._changed(instance.connector)

    def change_task(self, instance: Instance, **changes: Any) -> None:
        """Change what is known of a task; nothing happens when it is gone."""
        if instance in self.tasks:
            self.put_task(instance, replace(self.tasks[instance], **changes))

    def drop_task(self, instance: Instance) -> None:
        """Note that a task runs here no longer."""
        if self.tasks.pop(instance, None) is None:
            return
        siblings = self._tasks_of[instance.connector]
        del siblings[instance]
        if not siblings:
            del self._tasks_of[instance.connector]
        self._drop(instance.connector)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition on the board holds."""
        rings = self.bell.rings
        while not holds():
            rings = await self.bell.next_ring(rings)

    def _changed(self, connector: str) -> None:
        self.touched.add(connector)
        self.bell.ring()

    def _list(
        self, before: RunningConnector | RunningTask | None, now: RunningConnector | RunningTask
    ) -> None:
        self.lists += before is None or before.generation != now.generation

    def _drop(self, connector: str) -> None:
        self.lists += 1
        self._changed(connector)
