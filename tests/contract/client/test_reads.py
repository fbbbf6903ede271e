"""The client's reads ask for the revision they are given.

The past of a connector through the typed client, from a real service.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from copycat.history.v1.history_service_pb2_grpc import add_HistoryServiceServicer_to_server
from copycat.offset.v1 import offset_service_pb2 as offset_pb
from copycat.offset.v1 import offset_service_pb2_grpc as offset_grpc
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1 import scheduler_service_pb2_grpc as scheduler_grpc
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1 import status_service_pb2_grpc as status_grpc
from copycat_client.client import CopycatClient
from copycat_client.revisions import Revision
from copycat_eventlog.past.change import CONFIG, PastChange
from copycat_eventlog.past.history import PastChanges
from copycat_eventlog.past.keeper import MemoryKeeper
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses
from copycat_serving.history import SERVICE, HistoryServicer
from copycat_telemetry.changes import USER, Asker

ASKED = Revision({0: 7})
asked: list[dict[int, int]] = []


class Statuses(status_grpc.StatusServiceServicer):
    async def GetConnectorStatus(self, request: Any, context: Any) -> Any:
        return _noted(request, status_pb.GetConnectorStatusResponse())

    async def ListConnectorStatuses(self, request: Any, context: Any) -> Any:
        return _noted(request, status_pb.ListConnectorStatusesResponse())

    async def ListTopics(self, request: Any, context: Any) -> Any:
        return _noted(request, status_pb.ListTopicsResponse())


class Offsets(offset_grpc.OffsetServiceServicer):
    async def ReadSourceOffsets(self, request: Any, context: Any) -> Any:
        return _noted(request, offset_pb.ReadSourceOffsetsResponse())

    async def ListSourceOffsets(self, request: Any, context: Any) -> Any:
        return _noted(request, offset_pb.ListSourceOffsetsResponse())

    async def GetLastChange(self, request: Any, context: Any) -> Any:
        return _noted(request, offset_pb.GetLastChangeResponse())


class Assignments(scheduler_grpc.SchedulerServiceServicer):
    async def ListAssignments(self, request: Any, context: Any) -> Any:
        return _noted(request, scheduler_pb.ListAssignmentsResponse())


def _noted(request: Any, response: Any) -> Any:
    asked.append(dict(request.min_revision.next))
    return response


@pytest.fixture
async def client() -> AsyncIterator[CopycatClient]:
    asked.clear()
    server = RpcServer("127.0.0.1:0")
    server.add(status_grpc.add_StatusServiceServicer_to_server, Statuses(), "copycat.status.v1.StatusService")
    server.add(offset_grpc.add_OffsetServiceServicer_to_server, Offsets(), "copycat.offset.v1.OffsetService")
    add = scheduler_grpc.add_SchedulerServiceServicer_to_server
    server.add(add, Assignments(), "copycat.scheduler.v1.SchedulerService")
    address = await server.start()
    try:
        addresses = Addresses(offset=[address], status=[address], scheduler=[address])
        async with CopycatClient(addresses) as made:
            yield made
    finally:
        await server.stop(0)


@pytest.mark.parametrize(
    "read",
    [
        lambda client: client.status.get("orders", min_revision=ASKED),
        lambda client: client.status.list(min_revision=ASKED),
        lambda client: client.status.topics("orders", min_revision=ASKED),
        lambda client: client.offsets.read_source("orders", [{}], min_revision=ASKED),
        lambda client: client.offsets.list_source("orders", min_revision=ASKED),
        lambda client: client.offsets.last_change("orders", min_revision=ASKED),
        lambda client: client.scheduler.assignments(min_revision=ASKED),
    ],
)
async def test_a_read_asks_for_the_revision_it_is_given(
    client: CopycatClient, read: Callable[[CopycatClient], Awaitable[Any]]
) -> None:
    await read(client)

    assert asked == [dict(ASKED.next)]


THEN = datetime(2026, 11, 20, 10, tzinfo=UTC)


async def test_changes_and_facts_at_a_time_come_as_they_were_kept() -> None:
    keeper = MemoryKeeper()
    for minutes, before, after in ((0, None, '{"a":"1"}'), (5, '{"a":"1"}', '{"a":"2"}')):
        time = round((THEN + timedelta(minutes=minutes)).timestamp() * 1000)
        ann = Asker(USER, "ann")
        keeper.append(PastChange(time, "c", CONFIG, "x", "", before, after, before_known=True, by=ann))
    server = RpcServer("127.0.0.1:0")
    server.add(add_HistoryServiceServicer_to_server, HistoryServicer(PastChanges(keeper, None)), SERVICE)
    address = await server.start()
    try:
        async with CopycatClient(Addresses(config=[address])) as copycat:
            newest, first = await copycat.history.read("c", CONFIG)
            found, later = await copycat.history.facts_at("c", CONFIG, THEN + timedelta(minutes=1))
            _, not_yet = await copycat.history.facts_at("c", CONFIG, THEN - timedelta(minutes=1))
    finally:
        await server.stop(0)
    assert [newest.after, newest.before, first.before] == [{"a": "2"}, {"a": "1"}, None]
    assert [newest.time, newest.asked_by, newest.name] == [THEN + timedelta(minutes=5), "user", "ann"]
    assert [[each.after for each in found], later] == [[{"a": "1"}], []]
    assert [each.id for each in not_yet] == [first.id]
