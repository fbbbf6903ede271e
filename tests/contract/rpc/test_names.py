"""Instances that are called by host names: all of them are reached, also once a name leads elsewhere."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_connect.errors import NotWriterError
from copycat_rpc import names
from copycat_rpc.channel import open_channel
from copycat_rpc.names import Names, looked_up
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import wait_until
from grpc import ChannelConnectivity

from tests.contract.rpc.test_calls import Service, serve

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
