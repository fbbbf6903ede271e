"""A bell that wakes everybody who listens; rings between two listenings are heard as one."""

from __future__ import annotations

import asyncio


class Bell:
    """Counts its rings, so that none is missed."""

    def __init__(self) -> None:
        self.rings = 0
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake all who listen."""
        self.rings += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def heard(self, after: int) -> int:
        """Wait for a ring after that many; returns how many there were."""
        while self.rings <= after:
            await self._rung.wait()
        return self.rings
