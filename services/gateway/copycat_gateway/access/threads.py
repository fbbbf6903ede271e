"""Where extensions run: threads of their own, since author code blocks, and may hang."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from copycat_connect.errors import ConnectError

R = TypeVar("R")
MAX_THREADS = 64
"""Calls that run at the same time."""


class AuthorThreads:
    """Runs calls of authors; one that hangs keeps no process from ending."""

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._free = asyncio.Semaphore(most)

    async def run(self, call: Callable[[], R]) -> R:
        """Return what the call returns, or raise what it raises; whoever is cancelled leaves it to itself."""
        await self._free.acquire()
        return await self._started(call)

    def _started(self, call: Callable[[], R]) -> asyncio.Future[R]:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[R] = loop.create_future()

        def settle(error: Exception | None, *result: R) -> None:
            self._free.release()
            if outcome.done():  # whoever waited has given up
                return
            if error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(result[0])

        def work() -> None:
            try:
                ending = partial(settle, None, call())
            except BaseException as raised:  # the top of the thread: authors may raise anything
                ending = partial(settle, _an_error(raised))
            with suppress(RuntimeError):  # the gateway has ended meanwhile
                loop.call_soon_threadsafe(ending)

        threading.Thread(target=work, name="rest-extension", daemon=True).start()
        return outcome


def _an_error(raised: BaseException) -> Exception:
    """Return what a coroutine may raise: no exit of the process, no end of an iteration."""
    if isinstance(raised, Exception) and not isinstance(raised, StopIteration | StopAsyncIteration):
        return raised
    error = ConnectError(f"A REST extension raised {type(raised).__name__}")
    error.__cause__ = raised
    return error
