"""The client's calls: reads at a revision, the past of a connector, changes of offsets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from copycat.executor.v1 import executor_service_pb2 as executor_pb
from copycat.executor.v1.executor_service_pb2_grpc import (
    ExecutorServiceServicer,
    add_ExecutorServiceServicer_to_server,
)
from copycat.history.v1.history_service_pb2_grpc import add_HistoryServiceServicer_to_server
from copycat.offset.v1 import offset_service_pb2 as offset_pb
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1 import offset_service_pb2_grpc as offset_grpc
from copycat.offset.v1.offset_service_pb2_grpc import (
    OffsetServiceServicer,
    add_OffsetServiceServicer_to_server,
)
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1 import scheduler_service_pb2_grpc as scheduler_grpc
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1 import status_service_pb2_grpc as status_grpc
from copycat.types.v1 import types_pb2
from copycat_client.client import CopycatClient
from copycat_client.offset_changes import OffsetsChange, SinkEffect, SinkMove, SourceEffect, SourceMove
from copycat_client.offsets import Position, SourceOffset
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


class AskedOffsets(offset_grpc.OffsetServiceServicer):
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
async def asking_client() -> AsyncIterator[CopycatClient]:
    asked.clear()
    server = RpcServer("127.0.0.1:0")
    server.add(status_grpc.add_StatusServiceServicer_to_server, Statuses(), "copycat.status.v1.StatusService")
    server.add(
        offset_grpc.add_OffsetServiceServicer_to_server, AskedOffsets(), "copycat.offset.v1.OffsetService"
    )
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
    asking_client: CopycatClient, read: Callable[[CopycatClient], Awaitable[Any]]
) -> None:
    await read(asking_client)

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


TIME = datetime(2026, 11, 20, 10, 0, 0, 250_000, UTC)
SOURCE = OffsetsChange(
    "orders", TIME, source=(SourceMove({"b": 1.0, "a": "ä"}, {"n": 1}, None), SourceMove({}, None, {"n": 2}))
)
SINK = OffsetsChange(
    "files",
    TIME,
    reset=True,
    undone_at=TIME,
    group_id="g",
    sink=(SinkMove("t", 0, 5, None), SinkMove("t", 1, None, 0)),
    too_large=True,
)


class Offsets(OffsetServiceServicer):
    def __init__(self) -> None:
        self.changes: dict[str, pb.OffsetsChange] = {}
        self.asked: list[pb.DescribeSinkMovesRequest] = []

    async def RememberChange(self, request: Any, context: Any) -> pb.RememberChangeResponse:
        self.changes[request.change.connector] = request.change
        return pb.RememberChangeResponse(revision=types_pb2.Revision(next={0: 1}))

    async def GetLastChange(self, request: Any, context: Any) -> pb.GetLastChangeResponse:
        return pb.GetLastChangeResponse(change=self.changes.get(request.connector))

    async def DescribeSinkMoves(self, request: Any, context: Any) -> pb.DescribeSinkMovesResponse:
        self.asked.append(request)
        there = pb.SinkEffect(
            move=pb.SinkMove(topic="t", partition=0, before=9, after=0),
            low=0,
            high=9,
            repeated_records=9,
            skipped_records=0,
            nothing_older=True,
        )
        gone = pb.SinkEffect(move=pb.SinkMove(topic="t", partition=1), out_of_range=True)
        return pb.DescribeSinkMovesResponse(effects=[there, gone])


class Executor(ExecutorServiceServicer):
    async def ExplainOffsets(self, request: Any, context: Any) -> executor_pb.ExplainOffsetsResponse:
        told = [
            executor_pb.OffsetsEffect(repeated_count=len(move.before), unit="bytes") for move in request.moves
        ]
        return executor_pb.ExplainOffsetsResponse(known=bool(told), effects=told)

    async def FindOffsets(self, request: Any, context: Any) -> executor_pb.FindOffsetsResponse:
        assert request.time == 1_795_168_800_250
        return executor_pb.FindOffsetsResponse(known=bool(request.offsets), offsets=request.offsets)


@pytest.fixture
def offsets() -> Offsets:
    return Offsets()


@pytest.fixture
async def client(offsets: Offsets, address: str) -> AsyncIterator[CopycatClient]:
    async with CopycatClient(Addresses(offset=[address])) as made:
        yield made


@pytest.fixture
async def address(offsets: Offsets) -> AsyncIterator[str]:
    server = RpcServer("127.0.0.1:0")
    server.add(add_OffsetServiceServicer_to_server, offsets, "copycat.offset.v1.OffsetService")
    server.add(add_ExecutorServiceServicer_to_server, Executor(), "copycat.executor.v1.ExecutorService")
    try:
        yield await server.start()
    finally:
        await server.stop(0)


@pytest.mark.parametrize("change", [SOURCE, SINK, replace(SOURCE, source=())], ids=["source", "sink", "none"])
async def test_a_change_comes_back_as_it_was_remembered(client: CopycatClient, change: OffsetsChange) -> None:
    assert await client.offsets.last_change(change.connector) is None
    await client.offsets.remember_change(change)
    assert await client.offsets.last_change(change.connector) == change


async def test_what_moves_of_a_sink_would_do_is_told(client: CopycatClient, offsets: Offsets) -> None:
    found = await client.offsets.describe_sink_moves("g", [Position("t", 0, 0), Position("t", 1, None)])
    assert found == (
        SinkEffect(SinkMove("t", 0, 9, 0), 0, 9, 9, 0, False, False, True),
        SinkEffect(SinkMove("t", 1, None, None), None, None, None, None, True, False, False),
    )
    await client.offsets.describe_sink_moves("g", time=TIME, only_back=True)
    await client.offsets.describe_sink_moves("g", reset=True)
    named, timed, reset = offsets.asked
    assert (len(named.offsets), len(named.removed), named.HasField("time")) == (1, 1, False)
    assert (timed.time, timed.only_back, reset.reset) == (1_795_168_800_250, True, True)


async def test_a_connector_is_asked_about_moves_and_times(client: CopycatClient, address: str) -> None:
    executor = client.executors.at(address)
    moves = [SourceMove({"f": 1}, {"n": 1}, None)]
    assert await executor.explain_offsets({}, moves) == (SourceEffect(7, None, "bytes"),)
    assert await executor.explain_offsets({}, []) is None
    known = [SourceOffset({"f": 1}, {"n": 1}), SourceOffset({"f": 2}, None)]
    assert await executor.find_offsets({}, known, TIME) == tuple(known)
    assert await executor.find_offsets({}, [], TIME) is None
