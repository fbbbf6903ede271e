"""Tasks whose hosts died: started again, alone when possible, but not for ever."""

from __future__ import annotations

import asyncio

from copycat_connect.cluster import Instance

from copycat_executor.domain.repeats import Deaths, after_death


class Suspects:
    """Counts the deaths of hosts under each task."""

    def __init__(self) -> None:
        self._deaths: dict[Instance, Deaths] = {}

    def died(self, instance: Instance, *, taken: bool) -> Deaths:
        """Count a death of a task's host; `taken` when the host had taken the task."""
        deaths = after_death(self._deaths.get(instance), asyncio.get_running_loop().time(), taken=taken)
        self._deaths[instance] = deaths
        return deaths

    def suspected(self, instance: Instance) -> bool:
        """Return whether a task may be what ended its host: it is kept apart from others."""
        return instance in self._deaths and self._deaths[instance].count > 0

    def forget(self, instance: Instance) -> None:
        """A user changed the task, or it left: it begins anew."""
        self._deaths.pop(instance, None)
