"""Methods of a service on a channel that may be opened anew, also while a call of theirs waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import grpc
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from grpc import ChannelConnectivity

#: For calls that name no deadline of their own.
CALL_TIMEOUT_SECONDS: Final = 10.0
#: Between two looks for a connection.
_LOOKS: Final = RetryPolicy(first=0.001, factor=2.0, ceiling=0.05)
#: What a call gets whose deadline has passed before there was a connection: enough to fail as any other.
_LAST_SECONDS: Final = 0.01


class RepeatableError(Exception):
    """A call failed and may be sent again."""

    def __init__(self, error: CopycatError) -> None:
        super().__init__(error.message)
        self.error = error
        """What the caller reads when it is not."""


class Renewing(Protocol):
    """Where a channel comes from."""

    def current(self) -> grpc.aio.Channel:
        """Return the channel of what counts now."""


class Method:
    """Is called on whatever channel counts then."""

    def __init__(self, owner: Renewing, kind: str, signature: tuple[Any, ...], more: dict[str, Any]) -> None:
        """`kind`: the channel's function that makes the call; `signature`, `more`: what that is given."""
        self._owner = owner
        self._kind = kind
        self._signature = signature
        self._more = more
        self._made: tuple[grpc.aio.Channel, Any] | None = None

    def __call__(self, *request: Any, **options: Any) -> Any:
        """Return the call that the channel of this moment makes of a request."""
        return self._on(self._owner.current())(*request, **options)

    def _on(self, channel: grpc.aio.Channel) -> Any:
        """Return the method on a channel; it is kept for the next call."""
        if self._made is None or self._made[0] is not channel:
            self._made = channel, getattr(channel, self._kind)(*self._signature, **self._more)
        return self._made[1]


class UnaryMethod(Method):
    """Waits for a connection and repeats what may be repeated, each time on the channel that counts then.

    On the channel it began on a call would ask those alone who were there then: for all its time the one
    instance that refuses it, say, though the one that leads has come back elsewhere.
    """

    def __init__(self, *method: Any, waits: Callable[[], Iterator[float]]) -> None:
        """`waits`: gives the seconds before each further try of one call."""
        super().__init__(*method)
        self._waits = waits

    def __call__(self, *request: Any, timeout: float | None = None, **options: Any) -> asyncio.Task[Any]:
        """Begin the call; `timeout` seconds are for each try, its wait for a connection included."""
        return asyncio.create_task(self._answer(request, timeout or CALL_TIMEOUT_SECONDS, options))

    async def _answer(self, request: tuple[Any, ...], timeout: float, options: dict[str, Any]) -> Any:
        waits = self._waits()
        while True:
            try:
                channel, left = await self._connected(timeout)
                return await self._on(channel)(*request, timeout=left, **options)
            except RepeatableError as failure:
                error = failure.error
            wait = next(waits, None)
            if wait is None:
                raise error
            await asyncio.sleep(wait)

    async def _connected(self, timeout: float) -> tuple[grpc.aio.Channel, float]:
        """Wait for a connection; returns the channel of that moment, and the seconds that are left."""
        loop, looks = asyncio.get_running_loop(), _LOOKS.waits()
        deadline = loop.time() + timeout
        while True:
            channel, left = self._owner.current(), deadline - loop.time()
            if left <= 0 or channel.get_state(try_to_connect=True) is ChannelConnectivity.READY:
                return channel, max(left, _LAST_SECONDS)
            await asyncio.sleep(next(looks))
