"""Tasks whose hosts died: started again, apart from others, but not for ever.

A task is called failed only when it is the only one whose code ran in the hosts that died. Those that share a
host with it start again, however often that is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from copycat_connect.cluster import Instance
from copycat_connect.retry import RetryPolicy

from copycat_executor.domain.repeats import MAX_QUICK_REPEATS, Deaths, after_death
from copycat_executor.domain.suspicion import Suspicions

#: Waits of tasks that cannot be kept apart, since there are too few slots, and whose hosts die all the same.
CROWDED: Final = RetryPolicy(first=1.0, factor=2.0, ceiling=30.0)


class Suspects:
    """Knows which tasks may be what ended their hosts."""

    def __init__(self) -> None:
        self._suspicions: Suspicions[Instance] = Suspicions()
        self._deaths: dict[Instance, Deaths] = {}

    def host_died(self, suspects: Collection[Instance]) -> None:
        """Count a death of a host; `suspects` are the tasks whose code ran there."""
        self._suspicions = self._suspicions.after(suspects, _now())
        if len(suspects) == 1:
            self._count(*suspects, taken=True)

    def hung(self, instance: Instance) -> None:
        """A task hung, and its host is ended for it: it has the next one for itself."""
        self._suspicions = self._suspicions.after((instance,), _now())

    def lost_order(self, instance: Instance) -> None:
        """Count a host that died before it had taken a task."""
        self._count(instance, taken=False)

    def hopeless(self, instance: Instance) -> bool:
        """Return whether a task is not to be started again: by itself it ends any host."""
        return instance in self._deaths and self._deaths[instance].hopeless

    def suspected(self, instance: Instance) -> bool:
        """Return whether a task may be what ended its host: it is kept apart from others."""
        return self._recent().count(instance) > 0

    def foremost(self, instance: Instance) -> bool:
        """Return whether it is suspected of two deaths or more, and no other task of more."""
        recent = self._recent()
        return recent.count(instance) > 1 and recent.foremost(instance)

    def cleared(self, instance: Instance) -> bool:
        """Return whether others may share its host again: some are more suspect, or nobody is."""
        return not (self.suspected(instance) and self._recent().foremost(instance))

    def wait_seconds(self, instance: Instance) -> float:
        """Return how long a task waits before it is started again; most do not."""
        crowded = self._recent().count(instance) - MAX_QUICK_REPEATS
        return CROWDED.wait(crowded - 1, 0.0) if crowded > 0 else 0.0

    def failed(self, instance: Instance) -> None:
        """A task is called failed: restarted, it gets as many tries again, still apart from others."""
        self._deaths.pop(instance, None)

    def forget(self, instance: Instance) -> None:
        """A user changed the task, or it left: it begins anew."""
        self._deaths.pop(instance, None)
        self._suspicions = self._suspicions.without(instance)

    def _recent(self) -> Suspicions[Instance]:
        self._suspicions = self._suspicions.recent(_now())
        return self._suspicions

    def _count(self, instance: Instance, *, taken: bool) -> None:
        self._deaths[instance] = after_death(self._deaths.get(instance), _now(), taken=taken)


def _now() -> float:
    return asyncio.get_running_loop().time()
