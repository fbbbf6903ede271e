"""The offset service on a memory log, with fake groups and a real gRPC server that plays the scheduler."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import (
    SchedulerServiceServicer,
    add_SchedulerServiceServicer_to_server,
)
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import CopycatError
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.past.keeper import MemoryKeeper
from copycat_offset.adapters.event_sourced import event_sourced
from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.samples import CommitSamples
from copycat_offset.adapters.server import register
from copycat_offset.adapters.source_offsets import SourceOffsets
from copycat_offset.domain.errors import GroupActiveError, PartitionGoneError
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.moves import Bounds, Unplaced
from copycat_offset.domain.state import OffsetState
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
    topics: dict[TopicPartition, Bounds] = field(default_factory=dict)
    times: list[int | None] = field(default_factory=list)
    """Those that bounds were asked for."""
    begins: Unplaced = Unplaced.BEGINNING
    asked: list[str] = field(default_factory=list)
    """Groups of commits."""
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared while commits wait."""

    def __post_init__(self) -> None:
        self.answering.set()

    async def of(self, overrides: Mapping[str, str | None]) -> "FakeGroups":
        self.overrides.append(overrides)
        return self

    async def positions(self, group: str) -> Mapping[TopicPartition, int]:
        return self.groups.get(group, {})

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._check(group)
        self.asked.append(group)
        await self.answering.wait()
        there = {partition: offset for partition, offset in offsets.items() if partition not in self.gone}
        self.groups.setdefault(group, {}).update(there)
        if len(there) < len(offsets):
            raise PartitionGoneError(group, "unknown topic or partition")

    async def forget(self, group: str, partitions: Collection[TopicPartition]) -> None:
        self._check(group)
        for partition in partitions:
            self.groups.get(group, {}).pop(partition, None)

    async def bounds(
        self, partitions: Collection[TopicPartition], time: int | None
    ) -> Mapping[TopicPartition, Bounds]:
        self.times.append(time)
        return {each: self.topics[each] for each in partitions if each in self.topics}

    def unplaced(self, overrides: Mapping[str, str | None]) -> Unplaced:
        return self.begins

    async def delete(self, group: str) -> None:
        self._check(group)
        self.groups.pop(group, None)

    def _check(self, group: str) -> None:
        if group in self.active:
            raise GroupActiveError(group)


@dataclass
class FakeHomes:
    """The homes of connectors: one own topic, in memory, where their keys name one."""

    state: OffsetState = field(default_factory=OffsetState)
    """What is in the own topic."""
    transactions: list[tuple[str, Sequence[OffsetEvent]]] = field(default_factory=list)
    """Connector and what was written, of each; to whichever topic."""
    asked: list[tuple[Mapping[str, str | None], bool]] = field(default_factory=list)
    written: list[Sequence[OffsetEvent]] = field(default_factory=list)
    """What was written to the own topic at once, without a transaction."""
    refusal: CopycatError | None = None
    """What the next write meets."""
    own: "FakeHomes | None" = None

    async def of(self, keys: Mapping[str, str | None], *, exactly_once: bool) -> "FakeHomes":
        self.asked.append((keys, exactly_once))
        self.own = self if "offsets.storage.topic" in keys else None
        return self

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        yield

    async def read(self) -> OffsetState:
        return self.state

    async def write(self, events: Sequence[OffsetEvent]) -> None:
        self._refuse()
        self.written.append(events)
        self.state = reduce(evolve, events, self.state)

    async def write_at_once(self, connector: str, events: Sequence[OffsetEvent]) -> None:
        self._refuse()
        self.transactions.append((connector, events))
        self.state = reduce(evolve, events, self.state)

    def _refuse(self) -> None:
        if self.refusal is not None:
            raise self.refusal


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
    homes: FakeHomes
    groups: FakeGroups
    scheduler: FakeScheduler
    generations: Generations

    async def knows(self, connector: str, task: int, generation: int) -> None:
        """Wait until the service has heard of a generation."""
        async with asyncio.timeout(60):
            while await self.generations.newest(connector, task) != generation:  # noqa: ASYNC110, nobody reports it
                await asyncio.sleep(0.005)


@asynccontextmanager
async def running(patience: float = 5.0, topic: MemoryTopic | None = None) -> AsyncIterator[Service]:
    """Run the service and its scheduler; on a topic of before, like one that was restarted."""
    topic, groups, scheduler, generations = (
        topic or MemoryTopic(25),
        FakeGroups(),
        FakeScheduler(),
        Generations(patience),
    )
    log = MemoryLog(topic)
    events = event_sourced(log)
    servers = RpcServer("127.0.0.1:0"), RpcServer("127.0.0.1:0")
    servers[0].add(add_SchedulerServiceServicer_to_server, scheduler, "copycat.scheduler.v1.SchedulerService")
    homes = FakeHomes()
    register(
        servers[1],
        events,
        SourceOffsets(events, homes),
        groups,
        generations,
        samples=CommitSamples(MemoryKeeper(), 60.0),
    )
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
        yield Service(OffsetServiceStub(calls), topic, homes, groups, scheduler, generations)
