"""Lets calls in: holds them until their service can answer them truly, and refuses them once it stops."""

from __future__ import annotations

import asyncio
from typing import Final

from copycat_connect.errors import CopycatError, ErrorCode, NotWriterError

#: Asked to learn how a service is, so never held and never refused.
UNGATED_CALL_PREFIXES: Final = ("/grpc.health.", "/grpc.reflection.", "/copycat.metrics.")
NOT_READY: Final = "The service stops before it has read its log; call again"
DRAINS: Final = "This instance stops and takes no more calls; call again"


class DrainingError(CopycatError):
    """The instance stops and has not begun with the call: it had no effect and may be sent to another one."""

    code = ErrorCode("service.draining", grpc="UNAVAILABLE", http=503)


class Gate:
    """Open unless held; whoever waits is let through by `open` and sent away by `end`."""

    def __init__(self, *, standby: bool = False) -> None:
        """Make an open gate; with a `standby` another instance answers in place of one that stops.

        Such a one refuses as who does not own the log: callers of every release send that on, those before
        `service.draining` too.
        """
        self._error = NotWriterError if standby else DrainingError
        self._passable = asyncio.Event()
        self._passable.set()
        self._refusal = ""

    def hold(self) -> None:
        """Make calls wait, each no longer than its own deadline."""
        self._passable.clear()

    def open(self) -> None:
        """Let all calls through, those that wait and those to come."""
        self._passable.set()

    def end(self) -> None:
        """Refuse those who still wait, and all who come later."""
        if not self._refusal:
            self._refusal = DRAINS if self._passable.is_set() else NOT_READY
        self._passable.set()

    async def passed(self, method: str) -> None:
        """Wait until the call may be answered.

        Raises:
            DrainingError: The service stops.
            NotWriterError: Likewise, where there is a standby.
        """
        if method.startswith(UNGATED_CALL_PREFIXES):
            return
        await self._passable.wait()
        if self._refusal:
            raise self._error(self._refusal)
