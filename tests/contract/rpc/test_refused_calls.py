"""A refused call leaves nothing of its request in memory, whatever size that had."""

from __future__ import annotations

import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_connect.errors import DataError
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.server import RpcServer
from copycat_testkit.eventually import eventually


class Payload:
    """Stands for what a service made of a request."""


class Refusing(rpc.ConfigServiceServicer):
    """Refuses while it holds something; knows whether that still exists."""

    def __init__(self) -> None:
        self.kept: list[weakref.ref[Payload]] = []

    async def PutConnector(self, request: Any, context: Any) -> Any:
        payload = Payload()
        self.kept.append(weakref.ref(payload))
        raise DataError("too large")

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        payload = Payload()
        self.kept.append(weakref.ref(payload))
        yield pb.WatchConnectorsResponse(removed="orders")
        raise DataError("too large")

    def let_go(self) -> bool:
        return all(reference() is None for reference in self.kept)


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


async def test_what_a_refused_call_held_is_let_go_of_without_the_garbage_collector() -> None:
    refusing, server = Refusing(), RpcServer("127.0.0.1:0")
    server.add(rpc.add_ConfigServiceServicer_to_server, refusing, "copycat.config.v1.ConfigService")
    async with open_channel([await server.start()]) as channel:
        stub = rpc.ConfigServiceStub(channel)
        with pytest.raises(RemoteError):
            await stub.PutConnector(pb.PutConnectorRequest(name="large"))
        with pytest.raises(RemoteError):
            async for _ in stub.WatchConnectors(pb.WatchConnectorsRequest()):
                pass
        await eventually(refusing.let_go)
    await server.stop(0)

    assert len(refusing.kept) == 2
