"""Lists and watches over gRPC: a user gets what is about connectors that the rules let the user see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
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
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat_access.needs import Scope
from copycat_client.client import CopycatClient
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses
from copycat_rpc.users.calls import user_calls
from copycat_rpc.users.needs import CALL_NEEDS, CONFIG, SCHEDULER, STATUS
from copycat_rpc.users.shown import SHOWN, SHOWN_WHOLE
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.issuer import Issuer, an_issuer

SECRET = "a-secret-of-sixteen-and-more"
RULE = '[[rule]]\nrole = "viewer"\nusers = ["ann"]\nconnectors = ["{}"]\n'


def connector(name: str) -> config_pb2.Connector:
    return config_pb2.Connector(name=name)


class Service(ConfigServiceServicer):
    """Lists two connectors; its watch goes on with `more` when it is released."""

    def __init__(self) -> None:
        self.listed = config_pb2.ListConnectorsResponse(connectors=[connector("orders"), connector("bills")])
        self.release = asyncio.Event()
        self.ended = asyncio.Event()
        self.others_had_a_turn = False

    async def ListConnectors(self, request: Any, context: Any) -> config_pb2.ListConnectorsResponse:
        return self.listed

    async def WatchConnectors(
        self, request: Any, context: Any
    ) -> AsyncIterator[config_pb2.WatchConnectorsResponse]:
        try:
            for name in ("orders", "bills"):
                yield config_pb2.WatchConnectorsResponse(connector=connector(name))
            yield config_pb2.WatchConnectorsResponse(snapshot_complete=True)
            await self.release.wait()
            turn = asyncio.Event()
            asyncio.get_running_loop().call_soon(turn.set)
            yield config_pb2.WatchConnectorsResponse(removed="bills")
            yield config_pb2.WatchConnectorsResponse(
                logger_level=config_pb2.SetLoggerLevelRequest(logger="root", level="INFO")
            )
            self.others_had_a_turn = turn.is_set()
            yield config_pb2.WatchConnectorsResponse(removed="orders")
        finally:
            self.ended.set()


class World:
    """A server with rules, and who asks it."""

    def __init__(self, issuer: Issuer, rules: Path, address: str, service: Service) -> None:
        self.issuer = issuer
        self.rules = rules
        self.service = service
        self._address = address
        self._channels: list[grpc.aio.Channel] = []

    def stub(self, token: str) -> Any:
        self._channels.append(open_channel([self._address], secret=token))
        return ConfigServiceStub(self._channels[-1])

    def client(self, token: str) -> CopycatClient:
        return CopycatClient(Addresses(config=[self._address]), secret=token)

    async def close(self) -> None:
        for channel in self._channels:
            await channel.close(None)

    async def is_refused(self, token: str) -> bool:
        try:
            await self.stub(token).ListConnectors(config_pb2.ListConnectorsRequest())
        except RemoteError:
            return True
        return False


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with an_issuer() as made:
        yield made


@pytest.fixture
async def world(issuer: Issuer, tmp_path: Path) -> AsyncIterator[World]:
    rules = tmp_path / "access.toml"
    rules.write_text(RULE.format("ord*"))
    service = Service()
    settings = {**issuer.settings, "access.rules.file": str(rules), "cluster.secret": SECRET}
    settings |= {"access.token.clock.skew.ms": "0"}
    users = user_calls(settings, "config", recheck_seconds=0.0)
    server = RpcServer("127.0.0.1:0", secret=SECRET, users=users)
    server.add(add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    made = World(issuer, rules, await server.start(), service)
    yield made
    await made.close()
    await server.stop(0)


def test_it_is_said_of_each_answer_to_those_who_may_see_some_what_they_get_of_it() -> None:
    some = {path for path, need in CALL_NEEDS.items() if need.scope is Scope.ANYWHERE}

    assert some == SHOWN.keys() | SHOWN_WHOLE
    assert SHOWN.keys().isdisjoint(SHOWN_WHOLE)


async def test_a_call_of_which_that_is_not_said_is_denied(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    anns = world.issuer.token("ann")
    assert not await world.is_refused(anns)
    monkeypatch.delitem(SHOWN, f"{CONFIG}ListConnectors")
    with pytest.raises(RemoteError) as error:
        await world.stub(anns).ListConnectors(config_pb2.ListConnectorsRequest())

    assert error.value.remote_code.name == "access.role_needed"


def test_every_kind_of_change_in_a_watch_names_a_connector_or_is_not_shown() -> None:
    for path in (f"{CONFIG}WatchConnectors", f"{SCHEDULER}WatchAssignments", f"{STATUS}WatchStatuses"):
        service, _, method = path.rpartition("/")
        module = import_module(f"{service[1:].rpartition('.')[0]}.{service.split('.')[1]}_service_pb2")
        message: type[Message] = getattr(module, f"{method}Response")
        for field in message.DESCRIPTOR.oneofs_by_name["change"].fields:
            if field.message_type is None:
                of_none = message(**{field.name: True if field.name == "snapshot_complete" else "bills"})
            else:
                descriptor: Any = field.message_type
                of_none = message(**{field.name: GetMessageClass(descriptor)()})
            shown = SHOWN[path](of_none, lambda _: False)
            assert (shown is not None) == (field.name == "snapshot_complete"), (path, field.name)


async def test_a_list_holds_what_the_user_may_see_and_the_secret_sees_all(world: World) -> None:
    anns = await world.stub(world.issuer.token("ann")).ListConnectors(config_pb2.ListConnectorsRequest())
    everything = await world.stub(SECRET).ListConnectors(config_pb2.ListConnectorsRequest())

    assert [each.name for each in anns.connectors] == ["orders"]
    assert [each.name for each in everything.connectors] == ["orders", "bills"]
    assert len(world.service.listed.connectors) == 2


async def test_a_watch_holds_snapshot_and_changes_that_the_user_may_see(world: World) -> None:
    world.service.release.set()
    watch = world.stub(world.issuer.token("ann")).WatchConnectors(config_pb2.WatchConnectorsRequest())

    assert [each.WhichOneof("change") async for each in watch] == [
        "connector",
        "snapshot_complete",
        "removed",
    ]
    assert world.service.others_had_a_turn, "what is not shown is gone through in one step"


async def test_rules_that_change_count_for_what_a_watch_sends_next(world: World) -> None:
    watch = world.stub(world.issuer.token("ann")).WatchConnectors(config_pb2.WatchConnectorsRequest())
    async for each in watch:
        if each.snapshot_complete:
            break
    world.rules.write_text(RULE.format("bills-of-today") + RULE.format("bills"))
    world.service.release.set()

    assert [each.removed async for each in watch] == ["bills"]


async def test_a_watch_ends_when_its_user_has_no_role_left(world: World) -> None:
    watch = world.stub(world.issuer.token("ann")).WatchConnectors(config_pb2.WatchConnectorsRequest())
    async for each in watch:
        if each.snapshot_complete:
            break
    world.rules.write_text(RULE.replace("ann", "eve").format("*"))
    world.service.release.set()

    with pytest.raises(RemoteError) as error:
        assert [each async for each in watch] == []
    assert error.value.remote_code.name == "access.role_needed"
    await asyncio.wait_for(world.service.ended.wait(), 60)


@pytest.mark.parametrize(
    ("name", "claims", "code"),
    [("ann", {"exp": 1}, "access.token_refused"), ("eve", {}, "access.role_needed")],
)
async def test_the_client_tells_that_a_watch_is_refused_and_does_not_try_for_ever(
    world: World, name: str, claims: dict[str, int], code: str
) -> None:
    async with world.client(world.issuer.token(name, **claims)) as client, asyncio.timeout(60):
        with pytest.raises(RemoteError) as error:
            await anext(client.configs.watch())

    assert error.value.remote_code.name == code


async def test_a_watch_ends_when_its_token_is_no_longer_good(world: World) -> None:
    short = world.issuer.token("ann", exp=int(time.time()) + 3)
    watch = world.stub(short).WatchConnectors(config_pb2.WatchConnectorsRequest())
    async for each in watch:
        if each.snapshot_complete:
            break
    async with asyncio.timeout(60):
        while not await world.is_refused(short):  # noqa: ASYNC110, the condition is the server's
            await asyncio.sleep(0.1)
    world.service.release.set()

    with pytest.raises(RemoteError) as error:
        assert [each async for each in watch] == []
    assert error.value.remote_code.name == "access.token_refused"


def test_the_instances_that_a_worker_holds_and_statuses_are_looked_through() -> None:
    def sees(name: str) -> bool:
        return name == "orders"

    def instance(name: str) -> scheduler_pb2.Instance:
        return scheduler_pb2.Instance(connector=name, task=0)

    held = [scheduler_pb2.Held(instance=instance(name)) for name in ("orders", "bills")]
    workers = scheduler_pb2.ListWorkersResponse(workers=[scheduler_pb2.Worker(worker_id="a", held=held)])
    assignments = scheduler_pb2.ListAssignmentsResponse(
        assignments=[scheduler_pb2.Assignment(instance=instance(name)) for name in ("orders", "bills")]
    )
    statuses = status_pb2.ListConnectorStatusesResponse(
        statuses=[status_pb2.ConnectorStatus(connector=name) for name in ("orders", "bills")]
    )

    [worker] = SHOWN[f"{SCHEDULER}ListWorkers"](workers, sees).workers
    [assignment] = SHOWN[f"{SCHEDULER}ListAssignments"](assignments, sees).assignments
    [status] = SHOWN[f"{STATUS}ListConnectorStatuses"](statuses, sees).statuses

    assert [each.instance.connector for each in worker.held] == ["orders"]
    assert (worker.worker_id, assignment.instance.connector, status.connector) == ("a", "orders", "orders")
    assert len(workers.workers[0].held) == 2
