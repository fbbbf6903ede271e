"""The calls that a server has taken and not answered yet: a server that stops finishes them first."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import grpc

from copycat_rpc.errors import Status

log = logging.getLogger(__name__)

#: For the answers of calls that are given up.
GIVE_UP_SECONDS: Final = 1.0
#: What a call ends with that took too long: no code, as from an instance that is gone, for what became of it
#: is unknown.
GIVEN_UP: Final[Status] = (
    grpc.StatusCode.UNAVAILABLE,
    "The service stopped before the call was done; it may or may not have had an effect",
    (),
)


class UnderWay:
    """Enter it with each call."""

    def __init__(self) -> None:
        """No call is under way."""
        self._calls: set[asyncio.Task[Any]] = set()
        self._none = asyncio.Event()
        self._none.set()
        self.given_up = False
        """Whether calls that are cancelled now were given up, rather than cancelled by their callers."""

    async def finish(self, within: float) -> None:
        """Wait until every call is answered; those that are not within some seconds are given up."""
        if await self._ended(within):
            return
        log.warning("%d calls are given up: they were not done %g s after the stop", len(self._calls), within)
        self.given_up = True
        for call in self._calls:
            call.cancel()
        await self._ended(GIVE_UP_SECONDS)

    async def _ended(self, within: float) -> bool:
        try:
            async with asyncio.timeout(within):
                await self._none.wait()
        except TimeoutError:
            return False
        return True

    def __enter__(self) -> UnderWay:
        call = asyncio.current_task()
        if call is not None:
            self._calls.add(call)
            self._none.clear()
        return self

    def __exit__(self, *_: object) -> None:
        call = asyncio.current_task()
        if call is not None:
            self._calls.discard(call)
        if not self._calls:
            self._none.set()
