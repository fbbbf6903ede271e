"""Wait for what can only be asked: another process reports no change by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

PAUSE_SECONDS = 0.05


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds; the caller bounds the wait."""
    while True:
        if await holds():
            return
        await asyncio.sleep(PAUSE_SECONDS)
