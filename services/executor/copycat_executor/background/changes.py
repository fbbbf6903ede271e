"""Changes others wait for, and whose they were."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence


class ChangeSignal:
    """Wakes everybody who waits for a change; counts changes, so that none is missed."""

    def __init__(self) -> None:
        self.count = 0
        """How many changes there were; those between two waits are seen as one."""
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake everybody who waits for a change."""
        self.count += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, after: int) -> int:
        """Wait until there were more changes than `after`; returns how many there were."""
        while self.count <= after:
            await self._changed.wait()
        return self.count


class ChangedConnectors:
    """Names of connectors in the order in which they changed since the last look; at first, all."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._all = True

    @property
    def names(self) -> Sequence[str] | None:
        """The connectors to look at, so that a look costs what changed; None is all there are."""
        return None if self._all else tuple(self._names)

    def add(self, name: str) -> None:
        """Note a change of a connector or of its tasks."""
        self._names[name] = None

    def add_all(self) -> None:
        """Note that anything may have changed."""
        self._all = True

    def clear(self) -> None:
        """Note that all of them were looked at."""
        self._names, self._all = {}, False
