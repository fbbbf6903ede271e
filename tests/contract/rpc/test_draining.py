"""A server that stops answers what it has taken; all else goes to another instance, nothing is done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_connect.errors import UnavailableError
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.server import RpcServer
from copycat_testkit.eventually import eventually
from grpc_health.v1 import health_pb2, health_pb2_grpc

#: More than any of these tests takes.
PATIENCE_SECONDS = 60.0
#: After so long a server that stops ends what gRPC holds and never handed over.
GRACE_SECONDS = 5.0


class Instance(rpc.ConfigServiceServicer):
    """Answers once it is allowed to, and counts what it was asked."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.allowed = asyncio.Event()
        self.reached = asyncio.Event()

    async def _answer(self, name: str) -> None:
        self.calls[name] += 1
        self.reached.set()
        await self.allowed.wait()

    async def DeleteConnector(self, request: Any, context: Any) -> Any:
        await self._answer(request.name)
        return pb.DeleteConnectorResponse()

    async def PutConnector(self, request: Any, context: Any) -> Any:
        await self._answer(request.name)
        return pb.PutConnectorResponse()

    async def GetConnector(self, request: Any, context: Any) -> Any:
        await self._answer(request.name)
        return pb.GetConnectorResponse(connector=pb.Connector(name=request.name))

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        yield pb.WatchConnectorsResponse(removed="orders")


@asynccontextmanager
async def serving(
    *instances: Instance, listen: str = "127.0.0.1:0", standby: bool = False
) -> AsyncIterator[list[tuple[RpcServer, str]]]:
    servers = []
    for instance in instances:
        server = RpcServer(listen, standby=standby)
        server.add(rpc.add_ConfigServiceServicer_to_server, instance, "copycat.config.v1.ConfigService")
        servers.append((server, await server.start()))
    try:
        yield servers
    finally:
        for server, _ in servers:
            await server.stop(0)


def delete(channel: grpc.aio.Channel, name: str) -> asyncio.Future[Any]:
    call = rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest(name=name), timeout=60)
    return asyncio.ensure_future(call)


async def test_a_call_under_way_is_answered_and_a_new_one_goes_to_another_instance() -> None:
    stopping, other = Instance(), Instance()
    other.allowed.set()
    async with (
        serving(stopping, other) as [(server, first), (_, second)],
        open_channel([first]) as to_first,
        open_channel([first, second]) as channel,
    ):
        taken = delete(to_first, "taken")
        await eventually(lambda: stopping.calls["taken"] == 1)
        drained = asyncio.create_task(server.drain(PATIENCE_SECONDS))
        for number in range(10):
            await delete(channel, f"new {number}")
        assert not taken.done()
        assert not drained.done()
        stopping.allowed.set()
        await taken
        await drained

    assert stopping.calls == {"taken": 1}
    assert len(other.calls) == 10


async def test_of_calls_that_come_while_an_instance_stops_each_is_carried_out_once() -> None:
    first, second = Instance(), Instance()
    for instance in (first, second):
        instance.allowed.set()
    names: Counter[str] = Counter()
    ended = False

    async def ask(channel: grpc.aio.Channel, who: int) -> None:
        while not ended:
            name = f"{who}/{names.total()}"
            names[name] += 1
            await delete(channel, name)

    async with serving(second) as [(_, stays)]:
        for _ in range(8):
            async with serving(first) as [(server, leaves)], open_channel([leaves, stays]) as channel:
                first.reached.clear()
                ended = False
                asking = [asyncio.create_task(ask(channel, who)) for who in range(30)]
                await first.reached.wait()
                await server.stop(GRACE_SECONDS)
                ended = True
                await asyncio.gather(*asking)

    assert first.calls + second.calls == names


async def test_a_call_that_grpc_alone_holds_when_a_server_ends_goes_to_another_instance() -> None:
    holding, other = Instance(), Instance()
    other.allowed.set()
    ending = grpc.aio.server()  # knows nothing of calls under way, as ours of one that gRPC did not hand over
    rpc.add_ConfigServiceServicer_to_server(holding, ending)
    port = ending.add_insecure_port("127.0.0.1:0")
    await ending.start()
    async with open_channel([f"127.0.0.1:{port}"]) as channel:
        call = delete(channel, "orders")
        await holding.reached.wait()
        await ending.stop(None)
        async with serving(other, listen=f"127.0.0.1:{port}"):
            await call

    assert other.calls == {"orders": 1}


async def test_an_instance_that_starts_again_answers_what_its_former_self_refused() -> None:
    former, later = Instance(), Instance()
    for instance in (former, later):
        instance.allowed.set()
    async with serving(former) as [(server, address)], open_channel([address]) as channel:
        await server.drain(PATIENCE_SECONDS)
        call = delete(channel, "orders")
        await server.stop(0)
        async with serving(later, listen=address):
            await call

    assert not former.calls
    assert later.calls == {"orders": 1}


@pytest.mark.parametrize(("standby", "code"), [(False, "service.draining"), (True, "log.not_writer")])
async def test_where_nobody_stands_by_a_refusal_is_final_else_callers_of_every_release_send_it_on(
    standby: bool, code: str
) -> None:
    instance = Instance()
    async with (
        serving(instance, standby=standby) as [(server, address)],
        open_channel([address], standby=False) as channel,
    ):
        await server.drain(PATIENCE_SECONDS)
        with pytest.raises(RemoteError) as caught:
            await delete(channel, "orders")

    assert caught.value.remote_code.name == code
    assert not instance.calls


async def test_a_new_watch_is_refused_too() -> None:
    async with serving(Instance()) as [(server, address)], open_channel([address]) as channel:
        await server.drain(PATIENCE_SECONDS)
        with pytest.raises(RemoteError) as caught:
            await anext(aiter(rpc.ConfigServiceStub(channel).WatchConnectors(pb.WatchConnectorsRequest())))

    assert caught.value.remote_code.name == "service.draining"


async def test_whoever_watches_the_health_holds_up_no_drain_and_is_told() -> None:
    async with serving(Instance()) as [(server, address)], open_channel([address]) as channel:
        await server.set_serving(True)
        watch = aiter(health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest()))
        assert (await anext(watch)).status == health_pb2.HealthCheckResponse.SERVING
        await server.drain(PATIENCE_SECONDS)
        assert (await anext(watch)).status == health_pb2.HealthCheckResponse.NOT_SERVING


def put(name: str) -> Callable[[Any], Any]:
    return lambda stub: stub.PutConnector(pb.PutConnectorRequest(name=name))


def read(name: str) -> Callable[[Any], Any]:
    return lambda stub: stub.GetConnector(pb.GetConnectorRequest(name=name))


@pytest.mark.parametrize("send", [put("orders"), read("orders")], ids=["put", "read"])
async def test_a_call_that_changes_nothing_the_second_time_is_repeated_when_its_instance_gives_it_up(
    send: Callable[[Any], Any],
) -> None:
    stopping, other = Instance(), Instance()
    other.allowed.set()
    async with serving(stopping) as [(server, address)], open_channel([address]) as channel:
        call = asyncio.ensure_future(send(rpc.ConfigServiceStub(channel)))
        await eventually(lambda: stopping.calls["orders"] == 1)
        await server.stop(0)
        async with serving(other, listen=address):
            await call

    assert other.calls == {"orders": 1}


def creation(stub: Any) -> Any:
    return stub.PutConnector(pb.PutConnectorRequest(name="orders", create_only=True))


def removal(stub: Any) -> Any:
    return stub.DeleteConnector(pb.DeleteConnectorRequest(name="orders"))


@pytest.mark.parametrize("send", [creation, removal], ids=["create", "delete"])
async def test_any_other_call_that_is_given_up_is_not_repeated(send: Callable[[Any], Any]) -> None:
    stopping, other = Instance(), Instance()
    async with serving(stopping) as [(server, address)], open_channel([address]) as channel:
        call = asyncio.ensure_future(send(rpc.ConfigServiceStub(channel)))
        await eventually(lambda: stopping.calls["orders"] == 1)
        await server.stop(0)
        async with serving(other, listen=address):
            with pytest.raises(UnavailableError):
                await call

    assert not other.calls
