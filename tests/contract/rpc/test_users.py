"""Calls of users who bring a token: what each role may call, and that no call is without a decision."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from importlib import import_module
from pathlib import Path
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.config.v1.config_service_pb2_grpc import (
    ConfigServiceServicer,
    ConfigServiceStub,
    add_ConfigServiceServicer_to_server,
)
from copycat_access.needs import Scope
from copycat_access.roles import Role
from copycat_client.client import CopycatClient
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses
from copycat_rpc.users.calls import user_calls
from copycat_rpc.users.needs import CALL_NEEDS
from copycat_telemetry.changes import Asker, asking, current_asker
from google.protobuf.descriptor import MethodDescriptor

from tests.issuer import Issuer, an_issuer

SECRET = "a-secret-of-sixteen-and-more"
PROTO = Path(__file__).parents[3] / "proto"
#: Calls of the parts of a cluster, which say in them who they are or what became true.
WITH_THE_SECRET_ONLY = {
    *("ConfigService/PutTaskConfigs", "ConfigService/FenceTasks", "HostService/Attach"),
    *("OffsetService/CommitSourceOffsets", "OffsetService/CommitSinkOffsets", "OffsetService/RememberChange"),
    *("SchedulerService/Join", "StatusService/ReportStatuses", "StatusService/ReportTopics"),
    *("StatusService/ReportTroubles", "StatusService/ForgetStatuses", "StatusService/RecordAct"),
}
RULES = """
[[rule]]
role = "admin"
users = ["ann"]
connectors = ["orders-*"]

[[rule]]
role = "viewer"
groups = ["staff"]
connectors = ["*"]
"""


class Service(ConfigServiceServicer):
    """Answers whoever comes through, and keeps who that was."""

    def __init__(self) -> None:
        self.askers: list[Asker] = []

    def _seen(self) -> None:
        self.askers.append(current_asker())

    async def GetConnector(self, request: Any, context: Any) -> config_pb2.GetConnectorResponse:
        self._seen()
        return config_pb2.GetConnectorResponse(connector=config_pb2.Connector(name=request.name))

    async def ListConnectors(self, request: Any, context: Any) -> config_pb2.ListConnectorsResponse:
        return config_pb2.ListConnectorsResponse()

    async def DeleteConnector(self, request: Any, context: Any) -> config_pb2.DeleteConnectorResponse:
        self._seen()
        return config_pb2.DeleteConnectorResponse()

    async def SetTargetState(self, request: Any, context: Any) -> config_pb2.SetTargetStateResponse:
        raise RuntimeError

    async def FenceTasks(self, request: Any, context: Any) -> config_pb2.FenceTasksResponse:
        raise AssertionError

    async def WatchConnectors(
        self, request: Any, context: Any
    ) -> AsyncIterator[config_pb2.WatchConnectorsResponse]:
        yield config_pb2.WatchConnectorsResponse()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with an_issuer() as made:
        yield made


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture
async def address(issuer: Issuer, service: Service, audit: Path, tmp_path: Path) -> AsyncIterator[str]:
    """A server that accepts the issuer's tokens, and has rules."""
    rules = tmp_path / "access.toml"
    rules.write_text(RULES)
    files = {"access.rules.file": str(rules), "access.audit.file": str(audit), "cluster.secret": SECRET}
    users = user_calls({**issuer.settings, **files}, "config")
    server = RpcServer("127.0.0.1:0", secret=SECRET, users=users)
    server.add(add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    yield await server.start()
    await server.stop(0)


async def call(address: str, token: str, method: str, **fields: str) -> Any:
    channel = open_channel([address], secret=token)
    try:
        request = getattr(config_pb2, f"{method}Request")(**fields)
        return await getattr(ConfigServiceStub(channel), method)(request)
    finally:
        await channel.close(None)


async def refused(address: str, token: str, method: str, **fields: str) -> tuple[str, str]:
    """Return code and text of a call that is refused."""
    with pytest.raises(RemoteError) as error:
        await call(address, token, method, **fields)
    return error.value.remote_code.name, error.value.message


def calls() -> Mapping[str, MethodDescriptor]:
    """Return every call of every contract by its path."""
    files = sorted(PROTO.glob("copycat/*/v1/*_service.proto"))
    modules = [import_module(f"copycat.{file.parts[-3]}.v1.{file.stem}_pb2") for file in files]
    found = [each for module in modules for each in module.DESCRIPTOR.services_by_name.values()]
    return {f"/{each.full_name}/{method.name}": method for each in found for method in each.methods}


def test_of_each_call_it_is_decided_what_a_user_needs_for_it() -> None:
    secret_only = {path for path in calls() if path.rpartition(".")[2] in WITH_THE_SECRET_ONLY}

    assert len(secret_only) == len(WITH_THE_SECRET_ONLY)
    assert set(CALL_NEEDS) | secret_only == set(calls())
    assert not set(CALL_NEEDS) & secret_only


def test_a_call_about_a_connector_names_it_and_nothing_else_it_could_reach() -> None:
    for path, need in CALL_NEEDS.items():
        fields = set(calls()[path].input_type.fields_by_name)
        if need.scope is Scope.CONNECTOR:
            assert len(fields & {"connector", "name", "instance"}) == 1, path
            assert not fields & {"store", "overrides", "group_id"}, path
        assert not calls()[path].client_streaming, path


def test_calls_that_only_read_are_named_so_and_all_others_are_audited() -> None:
    reads = ("Get", "List", "Read", "Describe", "Watch", "Validate", "Explain", "Find")
    for path, need in CALL_NEEDS.items():
        assert bool(need.act) != calls()[path].name.startswith(reads), path
        assert not need.act or need.role >= Role.OPERATOR, path


async def test_a_user_calls_what_the_role_allows_and_is_told_to_the_service(
    address: str, issuer: Issuer, service: Service
) -> None:
    found = await call(address, issuer.token("ann"), "GetConnector", name="orders-eu")
    with asking(Asker("automatic", "forged", "10.0.0.1")):
        await call(address, issuer.token("ann"), "DeleteConnector", name="orders-eu")
    await call(address, SECRET, "DeleteConnector", name="bills")

    assert found.connector.name == "orders-eu"
    assert service.askers == [Asker("user", "ann"), Asker("user", "ann"), Asker()]


async def test_the_client_takes_a_token_in_place_of_the_secret(address: str, issuer: Issuer) -> None:
    addresses = Addresses(config=[address])
    async with CopycatClient(addresses, secret=issuer.token("eve", "staff")) as client:
        assert await client.configs.list() is not None
        async with aclosing(client.configs.watch()) as watch:
            with pytest.raises(RemoteError, match="needed for connector bills, and eve does not have it"):
                await client.configs.delete("bills")
            assert watch is not None


async def test_what_a_role_does_not_allow_is_refused_before_it_reaches_the_service(
    address: str, issuer: Issuer, service: Service
) -> None:
    ann, eve = issuer.token("ann"), issuer.token("eve", "staff")
    needed = "access.role_needed"
    for token, method, fields, said in (
        (ann, "DeleteConnector", {"name": "bills"}, "The role admin is needed for connector bills, and ann"),
        (issuer.token("nobody"), "ListConnectors", {}, "The role viewer is needed for some connector"),
        (ann, "FenceTasks", {"connector": "orders-eu"}, "FenceTasks, which asks for the secret instead"),
        (eve, "DeleteConnector", {"name": "orders-eu"}, "The role admin is needed for connector orders-eu"),
        (issuer.token("nobody"), "GetConnector", {"name": "orders-eu"}, "nobody does not have it"),
    ):
        code, text = await refused(address, token, method, **fields)
        assert (code, said in text) == (needed, True), text
    assert service.askers == []


async def test_a_watch_is_refused_and_allowed_as_a_read_is(address: str, issuer: Issuer) -> None:
    for token, allowed in ((issuer.token("eve", "staff"), True), (issuer.token("nobody"), False)):
        channel = open_channel([address], secret=token)
        watch = ConfigServiceStub(channel).WatchConnectors(config_pb2.WatchConnectorsRequest())
        if allowed:
            assert [each async for each in watch] == [config_pb2.WatchConnectorsResponse()]
        else:
            with pytest.raises(RemoteError, match="needed for some connector"):
                assert [each async for each in watch] == []
        await channel.close(None)


async def test_a_bad_token_and_a_wrong_secret_are_refused_and_not_told(
    address: str, issuer: Issuer, service: Service
) -> None:
    expired = issuer.token("ann", exp=1)
    foreign = issuer.token("ann", aud="grafana")
    tampered = issuer.token("ann")[:-6] + "AAAAAA"
    for token, code in (
        (expired, "access.token_refused"),
        (foreign, "access.token_refused"),
        (tampered, "access.token_refused"),
        ("not.a.token", "access.token_refused"),
        ("another-secret-of-sixteen", "rpc.unauthenticated"),
        ("", "rpc.unauthenticated"),
    ):
        told, text = await refused(address, token, "DeleteConnector", name="orders-eu")
        assert told == code
        assert not token or token not in text
    assert service.askers == []


async def test_two_credentials_are_none(address: str, issuer: Issuer) -> None:
    given = [("authorization", f"Bearer {issuer.token('ann')}"), ("authorization", f"Bearer {SECRET}")]
    async with grpc.aio.insecure_channel(address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await ConfigServiceStub(channel).DeleteConnector(
                config_pb2.DeleteConnectorRequest(name="orders-eu"), metadata=given
            )
    assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_acts_and_denials_are_lines_of_the_audit(address: str, issuer: Issuer, audit: Path) -> None:
    ann = issuer.token("ann")
    await call(address, ann, "DeleteConnector", name="orders-eu")
    await call(address, ann, "GetConnector", name="orders-eu")
    with pytest.raises(RemoteError):
        await call(address, ann, "SetTargetState", name="orders-eu")
    await refused(address, ann, "DeleteConnector", name="bills")
    await refused(address, "not.a.token", "DeleteConnector", name="bills")

    lines = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]  # noqa: ASYNC240 - as above
    told = [(line["outcome"], line.get("by"), line["act"], line.get("connector")) for line in lines]
    assert told == [
        ("allowed", "ann", "delete connector", "orders-eu"),
        ("failed", "ann", "set target state", "orders-eu"),
        ("denied", "ann", "delete connector", "bills"),
        ("denied", None, "delete connector", None),
    ]
    assert all(line["address"].startswith("ipv4:127.0.0.1") for line in lines)
    assert ann not in audit.read_text("utf-8")  # noqa: ASYNC240 - as above
