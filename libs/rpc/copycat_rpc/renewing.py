"""A channel that is opened anew once what it was opened with has changed: certificates, or addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import grpc

B = TypeVar("B")

#: Calls of a former channel have begun by then; it is closed once none is under way.
RETIRED_SECONDS: Final = 60.0


class Traffic:
    """Counts the calls under way on one channel."""

    def __init__(self) -> None:
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def __enter__(self) -> None:
        self._calls += 1
        self._idle.clear()

    def __exit__(self, *_: object) -> None:
        self._calls -= 1
        if not self._calls:
            self._idle.set()

    async def ended(self) -> None:
        """Return once no call is under way."""
        await self._idle.wait()


Opened = tuple[grpc.aio.Channel, Traffic]


class RenewingChannel(grpc.aio.Channel, Generic[B]):
    """gRPC fixes what a channel is opened with: where that changes, the next call opens another channel.

    Calls under way end on the channel they began on.
    """

    def __init__(self, basis: Callable[[], B], make: Callable[[B], Opened]) -> None:
        """Open the first one.

        Args:
            basis: Returns what a channel is to be opened with now; it is asked at each call.
            make: Opens a channel with that, and tells of its calls.
        """
        self._basis = basis
        self._make = make
        self._made_with = basis()
        self._channel, self._traffic = make(self._made_with)
        self._retiring: dict[asyncio.Task[None], grpc.aio.Channel] = {}

    def current(self) -> grpc.aio.Channel:
        """Return the channel of what counts now."""
        basis = self._basis()
        if basis != self._made_with:
            retired = asyncio.create_task(_retire(self._channel, self._traffic))
            self._retiring[retired] = self._channel
            retired.add_done_callback(lambda done: self._retiring.pop(done, None))
            self._made_with = basis
            self._channel, self._traffic = self._make(basis)
        return self._channel

    async def close(self, grace: float | None = None) -> None:
        """Close it; calls under way fail once `grace` seconds have passed."""
        retiring = dict(self._retiring)
        for task in retiring:
            task.cancel()
        for channel in (*retiring.values(), self._channel):
            await channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return the state of the newest connection."""
        return self.current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until that is another one."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait for a connection."""
        await self.current().channel_ready()

    def unary_unary(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return _Callable(self, "unary_unary", signature, more)

    def unary_stream(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return _Callable(self, "unary_stream", signature, more)

    def stream_unary(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return _Callable(self, "stream_unary", signature, more)

    def stream_stream(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return _Callable(self, "stream_stream", signature, more)

    async def __aenter__(self) -> RenewingChannel[B]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Callable:
    """A method of the service, on whatever channel counts when it is called."""

    def __init__(
        self, owner: RenewingChannel[Any], kind: str, signature: tuple[Any, ...], more: dict[str, Any]
    ) -> None:
        self._owner = owner
        self._kind = kind
        self._signature = signature
        self._more = more
        self._made: tuple[grpc.aio.Channel, Any] | None = None

    def __call__(self, *request: Any, **options: Any) -> Any:
        channel = self._owner.current()
        if self._made is None or self._made[0] is not channel:
            self._made = channel, getattr(channel, self._kind)(*self._signature, **self._more)
        return self._made[1](*request, **options)


async def _retire(channel: grpc.aio.Channel, traffic: Traffic) -> None:
    await asyncio.sleep(RETIRED_SECONDS)
    await traffic.ended()
    await channel.close(None)
