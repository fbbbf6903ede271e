"""Calls over loopback gRPC: what a caller sees of deadlines, errors standbys, and what a refusal keeps."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_connect.errors import (
    ConfigError,
    CopycatError,
    DataError,
    ErrorCode,
    NotWriterError,
    UnavailableError,
)
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.health import ask_at, until_serves
from copycat_rpc.server import RpcServer
from copycat_testkit.eventually import eventually
from grpc_health.v1 import health_pb2, health_pb2_grpc


class UnknownConnectorError(CopycatError):
    """The named connector has no configuration."""

    code = ErrorCode("connector.unknown", grpc="NOT_FOUND", http=404)


class Service(rpc.ConfigServiceServicer):
    """Answers as the test says."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.calls = 0
        self.hangs = False

    async def DeleteConnector(self, request: Any, context: Any) -> Any:
        self.calls += 1
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        return pb.DeleteConnectorResponse()

    async def GetConnector(self, request: Any, context: Any) -> Any:
        self.calls += 1
        if self.hangs:
            await asyncio.Event().wait()
        return pb.GetConnectorResponse(connector=pb.Connector(name=request.name))

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        yield pb.WatchConnectorsResponse(removed="orders")
        raise UnknownConnectorError("Connector café not found", connector="café")


async def serve(service: Service, listen: str = "127.0.0.1:0") -> tuple[RpcServer, str]:
    server = RpcServer(listen)
    server.add(rpc.add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    return server, await server.start()


async def test_an_error_arrives_with_its_code_text_and_fields() -> None:
    server, address = await serve(
        Service(UnknownConnectorError("Connector café not found", connector="café"))
    )
    async with open_channel([address]) as channel:
        with pytest.raises(RemoteError) as caught:
            await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest(name="café"))
    await server.stop(0)

    assert caught.value.remote_code == ErrorCode("connector.unknown", grpc="NOT_FOUND", http=404)
    assert caught.value.message == "Connector café not found"
    assert caught.value.fields == {"connector": "café"}


async def test_an_unexpected_error_tells_the_caller_no_detail() -> None:
    server, address = await serve(Service(ValueError("password=hunter2")))
    async with open_channel([address]) as channel:
        with pytest.raises(RemoteError) as caught:
            await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
    await server.stop(0)

    assert caught.value.remote_code.name == "internal"
    assert "hunter2" not in caught.value.message


async def test_a_stream_ends_with_the_coded_error_after_what_it_sent() -> None:
    server, address = await serve(Service())
    received = []
    async with open_channel([address]) as channel:
        with pytest.raises(RemoteError) as caught:
            async for change in rpc.ConfigServiceStub(channel).WatchConnectors(pb.WatchConnectorsRequest()):
                received.append(change.removed)
    await server.stop(0)

    assert received == ["orders"]
    assert caught.value.remote_code.name == "connector.unknown"


async def test_a_call_is_repeated_until_the_writer_answers() -> None:
    service = Service(NotWriterError("standby"), NotWriterError("standby"))
    server, address = await serve(service)
    async with open_channel([address]) as channel:
        await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
    await server.stop(0)

    assert service.calls == 3


async def test_every_instance_is_asked_before_a_caller_waits_for_the_writer() -> None:
    standby, writer = Service(*(NotWriterError("standby") for _ in range(100))), Service()
    servers = [await serve(standby), await serve(writer)]
    async with open_channel([address for _, address in servers]) as channel:
        for _ in range(4):
            await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
    for server, _ in servers:
        await server.stop(0)

    assert writer.calls == 4


async def test_a_read_is_repeated_when_its_instance_goes_away() -> None:
    hanging = Service()
    hanging.hangs = True
    first, address = await serve(hanging)
    async with open_channel([address]) as channel:
        stub = rpc.ConfigServiceStub(channel)
        call = asyncio.ensure_future(stub.GetConnector(pb.GetConnectorRequest(name="orders")))
        await eventually(lambda: hanging.calls == 1)
        await first.stop(0)
        second, _ = await serve(Service(), address)
        assert (await call).connector.name == "orders"
    await second.stop(0)


async def test_a_call_waits_for_a_service_that_is_still_starting() -> None:
    probe, address = await serve(Service())
    await probe.stop(0)
    async with open_channel([address]) as channel:
        call = asyncio.ensure_future(
            rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
        )
        server, _ = await serve(Service(), address)
        await call
    await server.stop(0)


async def test_a_held_call_is_answered_once_the_service_is_ready() -> None:
    service = Service()
    server = RpcServer("127.0.0.1:0")
    server.add(rpc.add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    server.hold()
    async with open_channel([await server.start()]) as channel:
        call = asyncio.ensure_future(
            rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest())
        )
        await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        assert service.calls == 0
        await server.set_serving(True)
        await call
    await server.stop(0)

    assert service.calls == 1


async def test_a_held_call_ends_with_its_deadline_and_has_no_effect() -> None:
    service = Service()
    server = RpcServer("127.0.0.1:0")
    server.add(rpc.add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    server.hold()
    async with open_channel([await server.start()]) as channel:
        with pytest.raises(UnavailableError):
            await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest(), timeout=0.2)
    await server.stop(0)

    assert service.calls == 0


async def test_calls_held_by_a_service_that_stops_are_sent_away() -> None:
    server = RpcServer("127.0.0.1:0")
    server.add(rpc.add_ConfigServiceServicer_to_server, Service(), "copycat.config.v1.ConfigService")
    server.hold()
    async with open_channel([await server.start()]) as channel:
        stream = rpc.ConfigServiceStub(channel).WatchConnectors(pb.WatchConnectorsRequest())
        received = asyncio.ensure_future(anext(aiter(stream)))
        await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        await server.stop(5)
        with pytest.raises(CopycatError) as caught:
            await received

    assert caught.value.message == "The service stops before it has read its log; call again"


async def test_a_service_that_is_not_there_is_named() -> None:
    probe, address = await serve(Service())
    await probe.stop(0)
    async with open_channel([address]) as channel:
        with pytest.raises(UnavailableError, match=address):
            await rpc.ConfigServiceStub(channel).DeleteConnector(pb.DeleteConnectorRequest(), timeout=0.3)


async def test_a_taken_port_names_the_setting_and_the_fix() -> None:
    server, address = await serve(Service())
    with pytest.raises(ConfigError, match=r"listen on .* is in use .* set config\.listen"):
        await RpcServer(address, setting="config.listen").start()
    await server.stop(0)


async def test_health_can_be_watched() -> None:
    server, address = await serve(Service())
    seen = []
    async with open_channel([address]) as channel:
        async for answer in health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest()):
            seen.append(answer.status)
            if len(seen) == 2:
                break
            await server.set_serving(True)
    await server.stop(0)

    assert seen == [health_pb2.HealthCheckResponse.NOT_SERVING, health_pb2.HealthCheckResponse.SERVING]


async def test_asked_whether_it_serves_a_service_says_so_or_the_answer_says_why_not() -> None:
    server, address = await serve(Service())
    held = await ask_at(address, 60)
    waiting = asyncio.create_task(until_serves(address))
    await server.set_serving(True)
    serving = await ask_at(address, 60)
    await asyncio.wait_for(waiting, 60)
    await server.stop(0)
    gone = await ask_at(address, 60)

    assert (held.serves, held.came, held.reason) == (False, True, "NOT_SERVING")
    assert (serving.serves, serving.came, serving.reason) == (True, True, "")
    assert (gone.serves, gone.came, gone.code) == (False, False, grpc.StatusCode.UNAVAILABLE)
    assert gone.reason.startswith("UNAVAILABLE: ")


async def test_of_thousands_of_calls_at_once_none_is_lost() -> None:
    server, address = await serve(Service())
    wanted = [f"c{number}" for number in range(1500)]
    try:
        async with open_channel([address]) as channel:
            stub = rpc.ConfigServiceStub(channel)
            reads = asyncio.gather(*(stub.GetConnector(pb.GetConnectorRequest(name=name)) for name in wanted))
            writes = asyncio.gather(*(stub.DeleteConnector(pb.DeleteConnectorRequest()) for _ in range(500)))
            replies, written = await reads, await writes
    finally:
        await server.stop(0)

    assert len(written) == 500
    assert [reply.connector.name for reply in replies] == wanted


async def test_a_call_whose_service_stops_says_that_nobody_answered() -> None:
    hanging = Service()
    hanging.hangs = True
    server, address = await serve(hanging)
    async with open_channel([address]) as channel:
        call = asyncio.ensure_future(
            rpc.ConfigServiceStub(channel).GetConnector(pb.GetConnectorRequest(), timeout=1)
        )
        await eventually(lambda: hanging.calls == 1)
        await server.stop(0)

        with pytest.raises(UnavailableError):
            await call


async def test_a_servicer_can_be_made_from_the_port_it_is_served_at() -> None:
    server = RpcServer("127.0.0.1:0")
    address = server.bind()
    server.add(rpc.add_ConfigServiceServicer_to_server, Service(), "copycat.config.v1.ConfigService")
    async with open_channel([address]) as channel:
        early = asyncio.ensure_future(
            rpc.ConfigServiceStub(channel).GetConnector(pb.GetConnectorRequest(name="orders"), timeout=60)
        )
        assert await server.start() == address == server.bind()
        assert (await early).connector.name == "orders"
    await server.stop(0)


async def test_a_server_that_was_bound_and_never_started_gives_its_port_back() -> None:
    first = RpcServer("127.0.0.1:0")
    address = first.bind()
    await first.stop(0)
    second = RpcServer(address)
    assert second.bind() == address
    await second.stop(0)


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


@pytest.fixture
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collector")
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
