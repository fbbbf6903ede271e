"""A channel that is opened anew once what it was opened with has changed: certificates, or addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar

import grpc

from copycat_rpc.methods import Method, UnaryMethod

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

    Streams under way end on the channel they began on, and so does each try of a unary call.
    """

    def __init__(
        self, basis: Callable[[], B], make: Callable[[B], Opened], waits: Callable[[], Iterator[float]]
    ) -> None:
        """Open the first one.

        Args:
            basis: Returns what a channel is to be opened with now; it is asked at each call.
            make: Opens a channel with that, and reports its calls.
            waits: Gives the seconds before each further try of one unary call.
        """
        self._waits = waits
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
        return UnaryMethod(self, "unary_unary", signature, more, waits=self._waits)

    def unary_stream(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return Method(self, "unary_stream", signature, more)

    def stream_unary(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return Method(self, "stream_unary", signature, more)

    def stream_stream(self, *signature: Any, **more: Any) -> Any:
        """Return a call of this kind."""
        return Method(self, "stream_stream", signature, more)

    async def __aenter__(self) -> RenewingChannel[B]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _retire(channel: grpc.aio.Channel, traffic: Traffic) -> None:
    await asyncio.sleep(RETIRED_SECONDS)
    await traffic.ended()
    await channel.close(None)
