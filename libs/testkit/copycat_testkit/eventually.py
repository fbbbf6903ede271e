"""Waiting for whatever is to come true, in the event loop or outside of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


async def eventually(condition: Callable[[], bool], within: float = 20.0) -> None:
    """Return when the condition holds.

    Raises:
        TimeoutError: It did not within that many seconds.
    """
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110, the condition may be about another process
            await asyncio.sleep(0.005)


def wait(condition: Callable[[], bool], seconds: float, otherwise: str, every: float = 0.05) -> float:
    """Wait until a condition holds; returns the moment it did.

    Raises:
        TimeoutError: It did not within `seconds`.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{otherwise} within {seconds:.0f} s")
        time.sleep(every)
    return time.monotonic()
