"""Wait for what can only be asked: another process reports no change by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

PAUSE_SECONDS = 0.05


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds; the caller bounds the wait."""
    while True:
        if await holds():
            return
        await asyncio.sleep(PAUSE_SECONDS)


async def unless(work: Coroutine[object, object, None], event: asyncio.Event) -> bool:
    """Do the work, or give it up when the event comes first; returns whether it was done."""
    doing = asyncio.create_task(work)
    coming = asyncio.create_task(event.wait())
    try:
        await asyncio.wait((doing, coming), return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
            return True
        return False
    finally:
        doing.cancel()
        coming.cancel()
        await asyncio.gather(doing, coming, return_exceptions=True)
