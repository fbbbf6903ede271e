"""Turns at starting: few tasks start at once, and those of many connectors in turn.

A connector of thousands of tasks would otherwise take all of the worker's time until the last one runs, while
nothing of another connector starts.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from typing import Final

#: Tasks that start at the same time on a worker.
MAX_CONCURRENT_STARTS: Final = 8
#: Those of one connector: others start even while the author's `start` hangs in all of these.
MAX_CONCURRENT_STARTS_OF_CONNECTOR: Final = 4
#: A start that takes longer no longer holds up others: it waits for a slot, or the author's code is slow.
MAX_TURN_SECONDS: Final = 5.0


class Turn:
    """A task's turn to start; ends by itself after a while, the task's start goes on."""

    def __init__(self, turns: StartTurns, connector: str) -> None:
        self._turns = turns
        self._connector: str | None = connector
        self._timer = asyncio.get_running_loop().call_later(MAX_TURN_SECONDS, self.end)

    def end(self) -> None:
        """Let another task start; does nothing when it has ended before."""
        connector, self._connector = self._connector, None
        if connector is not None:
            self._timer.cancel()
            self._turns.ended(connector)


class StartTurns:
    """Gives turns to the connectors in a circle, to the tasks of each in the order in which they asked."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._starting: Counter[str] = Counter()

    async def take(self, connector: str) -> Turn:
        """Wait for the turn of a task of a connector."""
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(connector, deque()).append(asked)
        self._give()
        try:
            await asked
        except asyncio.CancelledError:
            if asked.done() and not asked.cancelled():  # given at this very moment
                self.ended(connector)
            raise
        return Turn(self, connector)

    def ended(self, connector: str) -> None:
        """A turn of a connector is over."""
        self._starting[connector] -= 1
        self._starting += Counter()  # drops those that are at 0
        self._give()

    def _give(self) -> None:
        while self._starting.total() < MAX_CONCURRENT_STARTS:
            connector = next((name for name in self._waiting if self._may_start(name)), None)
            if connector is None:
                return
            asked = self._waiting[connector].popleft()
            self._waiting.move_to_end(connector)
            if not self._waiting[connector]:
                del self._waiting[connector]
            if not asked.cancelled():  # its task is to stop
                self._starting[connector] += 1
                asked.set_result(None)

    def _may_start(self, connector: str) -> bool:
        return self._starting[connector] < MAX_CONCURRENT_STARTS_OF_CONNECTOR
