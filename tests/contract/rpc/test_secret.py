"""The secret of a cluster on every call: who is refused, by whom, and what both sides read.

The services that all parts of a cluster call are found, and asked whether they serve.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.config.v1 import config_service_pb2_grpc as config_rpc
from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.executor.v1 import executor_service_pb2_grpc as executor_rpc
from copycat.host.v1 import host_service_pb2 as host_pb2
from copycat.host.v1 import host_service_pb2_grpc as host_rpc
from copycat.metrics.v1 import metrics_service_pb2 as metrics_pb2
from copycat.metrics.v1 import metrics_service_pb2_grpc as metrics_rpc
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.offset.v1 import offset_service_pb2_grpc as offset_rpc
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.scheduler.v1 import scheduler_service_pb2_grpc as scheduler_rpc
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat.status.v1 import status_service_pb2_grpc as status_rpc
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_rpc import secret as secret_module
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.secret import cluster_secret, credentials, new_secret
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses, connected
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionStub as ReflectionStub

SECRET = "a secret nobody guesses"
OTHER = "another secret, not guessed either"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
SERVICES: Mapping[Any, tuple[Any, Any]] = {
    pb2.DESCRIPTOR.services_by_name[name]: (
        getattr(rpc, f"add_{name}Servicer_to_server"),
        getattr(rpc, f"{name}Servicer"),
    )
    for name, pb2, rpc in (
        ("ConfigService", config_pb2, config_rpc),
        ("ExecutorService", executor_pb2, executor_rpc),
        ("HostService", host_pb2, host_rpc),
        ("MetricsService", metrics_pb2, metrics_rpc),
        ("OffsetService", offset_pb2, offset_rpc),
        ("SchedulerService", scheduler_pb2, scheduler_rpc),
        ("StatusService", status_pb2, status_rpc),
    )
}


class Service(config_rpc.ConfigServiceServicer):
    """Answers whoever comes through."""

    def __init__(self) -> None:
        self.calls = 0

    async def GetConnector(self, request: Any, context: Any) -> Any:
        self.calls += 1
        return config_pb2.GetConnectorResponse(connector=config_pb2.Connector(name=request.name))

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        self.calls += 1
        yield config_pb2.WatchConnectorsResponse(removed="orders")


async def serve(service: object, secret: str) -> tuple[RpcServer, str]:
    server = RpcServer("127.0.0.1:0", setting="config.listen", secret=secret)
    server.add(config_rpc.add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    return server, await server.start()


async def get(address: str, secret: str) -> Any:
    async with open_channel([address], secret=secret) as channel:
        return await config_rpc.ConfigServiceStub(channel).GetConnector(
            config_pb2.GetConnectorRequest(name="a")
        )


async def watch(address: str, secret: str) -> list[str]:
    async with open_channel([address], secret=secret) as channel:
        watched = config_rpc.ConfigServiceStub(channel).WatchConnectors(config_pb2.WatchConnectorsRequest())
        return [change.removed async for change in watched]


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what both sides logged about secrets."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == secret_module.__name__ and record.levelno >= logging.WARNING
    ]


async def test_who_has_the_secret_is_answered() -> None:
    server, address = await serve(Service(), SECRET)
    try:
        assert (await get(address, SECRET)).connector.name == "a"
        assert await watch(address, SECRET) == ["orders"]
    finally:
        await server.stop(0)


@pytest.mark.parametrize(
    ("wanted", "sent", "reason"),
    [
        (SECRET, "", "without a secret"),
        (SECRET, OTHER, "another secret"),
        (SECRET, SECRET[:-1], "another secret"),
        (SECRET, f"{SECRET}x", "another secret"),
        ("", SECRET, "this service has none"),
    ],
)
async def test_a_secret_that_differs_is_an_error_on_both_sides(
    wanted: str, sent: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service()
    server, address = await serve(service, wanted)
    try:
        for call in (get, watch, get):
            with pytest.raises(RemoteError) as caught:
                await call(address, sent)
            assert caught.value.remote_code.name == "rpc.unauthenticated"
            assert reason in caught.value.message
            assert "cluster.secret" in caught.value.message
    finally:
        await server.stop(0)

    assert service.calls == 0
    texts = warnings_of(caplog)
    ours, theirs = [
        [text for text in texts if text.startswith(side)] for side in ("refused a call", "refused by")
    ]
    assert len(ours) == 1, "once a minute is enough"
    assert reason in ours[0]
    assert f"refused by {address}" in theirs[0]
    assert not any(secret in text for secret in (SECRET, OTHER) for text in texts)


async def test_every_call_of_every_service_asks_for_the_secret() -> None:
    server = RpcServer("127.0.0.1:0", secret=SECRET)
    for service, (add, servicer) in SERVICES.items():
        server.add(add, servicer(), service.full_name)
    address = await server.start()
    methods = [f"/{service.full_name}/{method.name}" for service in SERVICES for method in service.methods]
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            for method in [*methods, REFLECTION, "/copycat.config.v1.ConfigService/NoSuchCall"]:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await channel.unary_unary(method, bytes, bytes)(b"", timeout=10)
                assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED, method
    finally:
        await server.stop(0)

    assert len(methods) > 30


async def test_health_is_open_to_probes_and_reflection_is_not() -> None:
    server, address = await serve(Service(), SECRET)
    token = grpc.access_token_call_credentials(SECRET)  # as any gRPC client sends it
    known = grpc.composite_channel_credentials(grpc.local_channel_credentials(), token)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    try:
        async with (
            grpc.aio.insecure_channel(address) as stranger,
            grpc.aio.secure_channel(address, known) as ours,
        ):
            health = await health_pb2_grpc.HealthStub(stranger).Check(health_pb2.HealthCheckRequest())
            with pytest.raises(grpc.aio.AioRpcError, match="without a secret"):
                await anext(aiter(ReflectionStub(stranger).ServerReflectionInfo(iter([request]))))
            listed = await anext(aiter(ReflectionStub(ours).ServerReflectionInfo(iter([request]))))
    finally:
        await server.stop(0)

    assert health.status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert "copycat.config.v1.ConfigService" in [each.name for each in listed.list_services_response.service]


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "db.example:0"])
async def test_a_service_that_other_machines_reach_does_not_start_without_a_secret(listen: str) -> None:
    server = RpcServer(listen, setting="config.listen")

    with pytest.raises(ConfigError) as caught:
        await server.start()

    assert f"config.listen={listen} can be reached from other machines" in caught.value.message
    assert "cluster.secret" in caught.value.message


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:0", "[::1]:0"])
async def test_without_a_secret_a_service_on_loopback_starts_with_a_warning(
    listen: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = RpcServer(listen, setting="config.listen")
    await server.start()
    await server.stop(0)

    assert warnings_of(caplog) == [
        f"config.listen={listen} answers every user of this machine: set cluster.secret in the worker"
        " properties to keep others out"
    ]


def test_a_secret_comes_from_the_worker_properties_and_is_never_printed() -> None:
    made = new_secret()

    assert cluster_secret({"cluster.secret": f" {made} "}) == made
    assert cluster_secret({}) == ""
    assert made != new_secret()
    assert credentials("") == ()


@pytest.mark.parametrize("wrong", ["", "short", "two words, and long enough", "nicht-ganz-ASCII-äöü"])
def test_what_cannot_be_a_secret_is_refused_without_being_shown(wrong: str) -> None:
    with pytest.raises(ConfigError) as caught:
        cluster_secret({"cluster.secret": wrong})

    assert "16 or more printable ASCII characters" in caught.value.message
    assert not wrong or wrong not in caught.value.message


def test_addresses_are_read_from_worker_properties() -> None:
    found = Addresses.of({"config.addresses": "a:1, b:2", "unrelated": "x"})

    assert found == Addresses(config=("a:1", "b:2"))
    assert found.scheduler == ("127.0.0.1:9104",)


def test_an_empty_list_of_addresses_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigError, match=r"status\.addresses"):
        Addresses.of({"status.addresses": ""})


async def test_only_a_service_that_answers_serves() -> None:
    server = RpcServer("127.0.0.1:0")
    address = await server.start()
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    try:
        async with connected(Addresses(config=[address], offset=[nobody])) as services:
            assert not await services.serves("config", 60.0)
            await server.set_serving(True)
            assert await services.serves("config", 60.0)
            assert not await services.serves("offset", 0.2)
    finally:
        await server.stop(0)
