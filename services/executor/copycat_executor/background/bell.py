"""A bell that wakes everybody who waits; rings between two waits count as one."""

from __future__ import annotations

import asyncio


class Bell:
    """Counts its rings, so that none is missed."""

    def __init__(self) -> None:
        self.rings = 0
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake everybody who waits for a ring."""
        self.rings += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def next_ring(self, after: int) -> int:
        """Wait until it has rung more often than `after` times; returns how often it has."""
        while self.rings <= after:
            await self._rung.wait()
        return self.rings
