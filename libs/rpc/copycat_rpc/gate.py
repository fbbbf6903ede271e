"""Holds calls until their service can answer them truly."""

from __future__ import annotations

import asyncio
from typing import Final

from copycat_connect.errors import UnavailableError

#: Asked to learn how a service is, so never held.
UNGATED_CALL_PREFIXES: Final = ("/grpc.health.", "/grpc.reflection.", "/copycat.metrics.")


class Gate:
    """Open unless held; whoever waits is let through by `open` and sent away by `end`."""

    def __init__(self) -> None:
        """Make an open gate."""
        self._passable = asyncio.Event()
        self._passable.set()
        self._ended = False

    def hold(self) -> None:
        """Make calls wait, each no longer than its own deadline."""
        self._passable.clear()

    def open(self) -> None:
        """Let all calls through, those that wait and those to come."""
        self._passable.set()

    def end(self) -> None:
        """Refuse those who still wait: the service stops before it could answer."""
        self._ended = not self._passable.is_set()
        self._passable.set()

    async def passed(self, method: str) -> None:
        """Wait until the call may be answered.

        Raises:
            UnavailableError: The service stops without having been ready.
        """
        if method.startswith(UNGATED_CALL_PREFIXES):
            return
        await self._passable.wait()
        if self._ended:
            message = "The service stops before it has read its log; call again"
            raise UnavailableError(message)
