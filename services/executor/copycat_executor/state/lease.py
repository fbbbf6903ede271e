"""How long this worker may go on with what it was given: its own side of its lease with the scheduler.

The scheduler counts from when it heard a heartbeat, this worker from when it sent it: so it stops first. What
the worker knew before its lease lapsed counts no more; it goes on with what it hears after the scheduler has
answered again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from copycat_executor.background import ChangeSignal

#: Tasks have ended so long before the scheduler may give them to another worker.
MARGIN_SECONDS: Final = 0.5
#: Who waits for a lapse looks no more often.
SHORTEST_WAIT_SECONDS: Final = 0.05


class WorkerLease:
    """Holds once the scheduler has answered a heartbeat and the assignments of then are known."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Keep a clock that goes on while this process is stopped."""
        self._clock = clock
        self._until = clock()
        self._answered = False
        self._lapses = 0
        self._known = -1
        self._changed = ChangeSignal()
        self.length: float | None = None
        """Of the lease, seconds; None before the scheduler has answered."""

    @property
    def lapses(self) -> int:
        """How often it has lapsed so far."""
        self._look()
        return self._lapses

    def renewed(self, sent: float, length: float) -> None:
        """Extend the lease: the scheduler has answered a heartbeat that was sent at `sent`."""
        self.length = length
        self._extend(sent + length)

    def extend_without_scheduler(self, seen: float) -> None:
        """No scheduler could have given anything away at `seen`; one that comes later waits for a lease."""
        if self.length is not None:
            self._extend(seen + self.length)

    def assignments_known(self, lapses: int) -> None:
        """The assignments are known as they were after so many lapses."""
        self._known = lapses
        self._changed.notify()

    def holds(self) -> bool:
        """Return whether tasks may be started, and may go on."""
        self._look()
        return self._answered and self._known == self._lapses

    def remaining(self) -> float:
        """Return for how many seconds tasks may go on if nothing renews it; 0 when it has lapsed."""
        return max(0.0, self._until - MARGIN_SECONDS - self._clock()) if self.holds() else 0.0

    async def answered(self) -> None:
        """Wait until the scheduler has answered, though what it assigns may not be known yet."""
        await self._until_it(lambda: self._answered)

    async def held(self) -> None:
        """Wait until it holds."""
        await self._until_it(self.holds)

    async def lapsed(self, lapses: int) -> None:
        """Wait until it has lapsed more often than `lapses` times."""
        while self.lapses <= lapses:
            left = self._until - self._clock()
            await asyncio.sleep(max(left, SHORTEST_WAIT_SECONDS))

    async def _until_it(self, does: Callable[[], bool]) -> None:
        seen_changes = self._changed.count
        while not does():
            seen_changes = await self._changed.wait(seen_changes)

    def _extend(self, until: float) -> None:
        self._look()
        self._until = max(self._until, until)
        self._answered = self._clock() < self._until
        self._changed.notify()

    def _look(self) -> None:
        """Note a lapse: a process that was frozen must not take the next answer for a renewal."""
        if self._answered and self._clock() >= self._until:
            self._answered = False
            self._lapses += 1
