"""How soon a loop may look at everything again, so that the streams of this process move on in between."""

from __future__ import annotations

import asyncio
from typing import Final

#: A watch sends one message in each turn of the event loop, and a plan for thousands of connectors is one
#: long turn: where one followed the other, workers heard of a few changes a second.
SHARE: Final = 0.2
#: A plan that moves thousands takes seconds on a busy machine, and the next one gives away what workers have
#: let go meanwhile: nothing waits longer than this for its turn.
LONGEST_PAUSE_SECONDS: Final = 1.0


class LoopPace:
    """Keeps work that blocks the event loop to `SHARE` of the time, unless one stretch of it is very long.

    Changes of `together` seconds are one.
    """

    def __init__(self, together: float) -> None:
        self._together = together
        self._not_before = float("-inf")

    def begin(self) -> None:
        """Blocking work begins now, and lasts until its coroutine waits for something."""
        loop = asyncio.get_running_loop()
        loop.call_soon(self._ended, loop.time())

    async def gather(self) -> None:
        """Wait for changes that come together with one that has just come, and until it is time again."""
        await asyncio.sleep(self._together)
        await asyncio.sleep(max(0.0, self._not_before - asyncio.get_running_loop().time()))

    def pause(self) -> float:
        """Return how many seconds `gather` would wait."""
        return max(self._together, self._not_before - asyncio.get_running_loop().time())

    def _ended(self, began: float) -> None:
        now = asyncio.get_running_loop().time()
        self._not_before = now + min((now - began) * (1 / SHARE - 1), LONGEST_PAUSE_SECONDS)
