"""Instances of a service that come and go: they are reached by host names, and drained before they end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_connect.errors import NotWriterError, UnavailableError
from copycat_rpc import names
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.names import Names, looked_up
from copycat_rpc.server import RpcServer
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import wait_until
from grpc import ChannelConnectivity
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.contract.rpc.test_calls import Service, serve

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


PLACES = ["config-1:9101", "config-2:9101"]


def by_name(address: str) -> str:
    return f"localhost:{address.rpartition(':')[2]}"


async def test_the_writer_is_found_though_the_first_of_the_names_is_a_standby() -> None:
    standby, writer = Service(*(NotWriterError("standby") for _ in range(50))), Service()
    first, second = await serve(standby), await serve(writer)
    async with open_channel([by_name(first[1]), by_name(second[1])]) as channel:
        for _ in range(5):
            await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
    for server, _ in (first, second):
        await server.stop(0)

    assert writer.calls == 5


async def test_calls_go_on_with_the_instance_that_is_there() -> None:
    service = Service()
    server, address = await serve(service)
    async with open_channel(["no-such-name.invalid:9101", by_name(address)]) as channel:
        await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
    await server.stop(0)

    assert service.calls == 1


def test_a_name_is_looked_up_again_while_it_is_used() -> None:
    now, where = [0.0], {PLACES[0]: ["10.0.0.1:9101"], PLACES[1]: ["10.0.0.2:9101"]}
    made = Names(PLACES, lambda address: where.get(address, []), lambda: now[0])
    assert made.target() == "ipv4:10.0.0.1:9101,10.0.0.2:9101"

    where[PLACES[0]] = ["10.0.0.9:9101"]
    assert made.target() == "ipv4:10.0.0.1:9101,10.0.0.2:9101", "it is not old yet"
    now[0] = names.MAX_AGE_SECONDS + 1
    wait_until(lambda: made.target() == "ipv4:10.0.0.2:9101,10.0.0.9:9101", 60, "the new address")

    where.clear()
    now[0] *= 3
    made.target()
    assert made.target() == "ipv4:10.0.0.2:9101,10.0.0.9:9101", "what was known counts while nothing is found"


def test_a_lookup_that_hangs_holds_up_nobody_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "FIRST_LOOKUP_SECONDS", 0.01)
    answered = threading.Event()

    def slow(address: str) -> list[str]:
        answered.wait(60)
        return [f"10.0.0.{address[7]}:9101"]

    made = Names(PLACES, slow)
    assert made.target() == "dns:///config-1:9101", "gRPC looks up the first meanwhile"
    answered.set()
    wait_until(lambda: made.target() == "ipv4:10.0.0.1:9101,10.0.0.2:9101", 60, "both addresses")


def test_addresses_of_both_kinds_are_looked_up_as_grpc_writes_them() -> None:
    assert looked_up("127.0.0.1:9101") == ["127.0.0.1:9101"]
    assert looked_up("[::1]:9101") == ["[::1]:9101"]
    assert looked_up("no-such-name.invalid:9101") == []
    assert Names(["[::1]:9101", "[::1]:9102"]).target() == "ipv6:[::1]:9101,[::1]:9102"


class Lookup:
    """Leads every name to some addresses of this machine."""

    def __init__(self, port: str, *there: str) -> None:
        self.there = list(there)
        self._port = int(port)

    def __call__(self, *_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, self._port)) for each in self.there]


@pytest.fixture
def old_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MAX_AGE_SECONDS", 0.01)


@pytest.mark.usefixtures("old_at_once")
async def test_an_instance_that_comes_back_under_the_same_name_answers_a_call_that_the_other_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    standby, writer = Service(*(NotWriterError("standby") for _ in range(10_000))), Service()
    server, address = await serve(standby)
    port = address.rpartition(":")[2]
    other, _ = await serve(writer, f"127.0.0.2:{port}")
    lookup = Lookup(port, "127.0.0.1")
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    async with open_channel([f"localhost:{port}"]) as channel:
        call = asyncio.ensure_future(
            rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
        )
        await eventually(lambda: standby.calls > 1)
        lookup.there.append("127.0.0.2")
        await call
    await server.stop(0)
    await other.stop(0)

    assert writer.calls == 1


@pytest.mark.usefixtures("old_at_once")
async def test_a_call_whose_instances_are_all_gone_waits_for_those_that_come_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone, came = Service(), Service()
    server, address = await serve(gone)
    port = address.rpartition(":")[2]
    lookup = Lookup(port, "127.0.0.1")
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    async with open_channel([f"localhost:{port}"]) as channel:
        await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
        await server.stop(0)
        await eventually(lambda: channel.get_state() is not ChannelConnectivity.READY)
        call = asyncio.ensure_future(
            rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest(), timeout=60)
        )
        other, _ = await serve(came, f"127.0.0.2:{port}")
        lookup.there = ["127.0.0.2"]
        await call
    await other.stop(0)

    assert came.calls == 1
