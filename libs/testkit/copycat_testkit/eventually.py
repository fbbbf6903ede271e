"""Waiting in the event loop for whatever a test wants to come true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def eventually(condition: Callable[[], bool], within: float = 20.0) -> None:
    """Return when the condition holds.

    Raises:
        TimeoutError: It did not within that many seconds.
    """
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110, the condition may be about another process
            await asyncio.sleep(0.005)
