"""The offset service on a memory log, with fake groups and a real gRPC server that plays the scheduler."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import (
    SchedulerServiceServicer,
    add_SchedulerServiceServicer_to_server,
)
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_offset.adapters.event_sourced import event_sourced
from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.server import register
from copycat_offset.domain.errors import GroupActiveError, PartitionGoneError
from copycat_rpc.channel import open_channel
from copycat_rpc.server import RpcServer
from copycat_serving.beside import beside


@dataclass
class FakeGroups:
    """Consumer groups in a dict."""

    groups: dict[str, dict[TopicPartition, int]] = field(default_factory=dict)
    active: set[str] = field(default_factory=set)
    gone: set[TopicPartition] = field(default_factory=set)
    overrides: list[Mapping[str, str | None]] = field(default_factory=list)
    """Of each call."""

    async def of(self, overrides: Mapping[str, str | None]) -> "FakeGroups":
        self.overrides.append(overrides)
        return self

    async def positions(self, group: str) -> Mapping[TopicPartition, int]:
        return self.groups.get(group, {})

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._check(group)
        there = {partition: offset for partition, offset in offsets.items() if partition not in self.gone}
        self.groups.setdefault(group, {}).update(there)
        if len(there) < len(offsets):
            raise PartitionGoneError(group, "unknown topic or partition")

    async def forget(self, group: str, partitions: Collection[TopicPartition]) -> None:
        self._check(group)
        for partition in partitions:
            self.groups.get(group, {}).pop(partition, None)

    async def delete(self, group: str) -> None:
        self._check(group)
        self.groups.pop(group, None)

    def _check(self, group: str) -> None:
        if group in self.active:
            raise GroupActiveError(group)


class FakeScheduler(SchedulerServiceServicer):
    """Streams what a test puts into it."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[scheduler_pb.WatchAssignmentsResponse] = asyncio.Queue()
        self.resumed: list[types_pb2.Revision] = []
        self._position = 0

    async def WatchAssignments(self, request: Any, context: Any) -> AsyncIterator[Any]:
        if request.HasField("after_revision"):
            self.resumed.append(request.after_revision)
        while True:
            yield await self.messages.get()

    def say(self, **change: Any) -> None:
        self._position += 1
        message = scheduler_pb.WatchAssignmentsResponse(**change)
        if not change.get("snapshot_complete") or self._position:
            message.revision.next[0] = self._position
        self.messages.put_nowait(message)

    def assign(self, connector: str, task: int, generation: int) -> None:
        instance = scheduler_pb.Instance(connector=connector, task=task)
        self.say(assignment=scheduler_pb.Assignment(instance=instance, worker_id="w", generation=generation))

    def unassign(self, connector: str, task: int) -> None:
        self.say(removed=scheduler_pb.Instance(connector=connector, task=task))


@dataclass
class Service:
    stub: Any
    topic: MemoryTopic
    groups: FakeGroups
    scheduler: FakeScheduler
    generations: Generations

    async def knows(self, connector: str, task: int, generation: int) -> None:
        """Wait until the service has heard of a generation."""
        async with asyncio.timeout(10):
            while await self.generations.newest(connector, task) != generation:  # noqa: ASYNC110, nobody tells
                await asyncio.sleep(0.005)


@asynccontextmanager
async def running(patience: float = 5.0) -> AsyncIterator[Service]:
    """Run the service and its scheduler."""
    topic, groups, scheduler, generations = (
        MemoryTopic(25),
        FakeGroups(),
        FakeScheduler(),
        Generations(patience),
    )
    log = MemoryLog(topic)
    events = event_sourced(log)
    servers = RpcServer("127.0.0.1:0"), RpcServer("127.0.0.1:0")
    servers[0].add(add_SchedulerServiceServicer_to_server, scheduler, "copycat.scheduler.v1.SchedulerService")
    register(servers[1], events, log, groups, generations)
    async with AsyncExitStack() as stack:
        addresses = []
        for server in servers:
            addresses.append(await server.start())
            stack.push_async_callback(server.stop, 0)
        await events.start()
        stack.push_async_callback(events.stop)
        channel = await stack.enter_async_context(open_channel(addresses[:1]))
        await stack.enter_async_context(beside(lambda: generations.follow(channel)))
        calls = await stack.enter_async_context(open_channel(addresses[1:]))
        yield Service(OffsetServiceStub(calls), topic, groups, scheduler, generations)
