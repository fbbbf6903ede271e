"""One attached host: commands queue here on their way down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from copycat.host.v1 import host_service_pb2 as pb


class HostSession:
    """The executor's end of a control stream."""

    def __init__(self, now: float) -> None:
        self.last_heartbeat = now
        self._commands: asyncio.Queue[pb.AttachResponse | None] = asyncio.Queue()

    def send(self, command: pb.AttachResponse) -> None:
        """Queue a command for the host; it is sent after those queued before."""
        self._commands.put_nowait(command)

    def finish(self) -> None:
        """End the stream after the commands queued so far."""
        self._commands.put_nowait(None)

    async def commands(self) -> AsyncGenerator[pb.AttachResponse, None]:
        """Yield commands until the stream is finished."""
        while (command := await self._commands.get()) is not None:
            yield command
