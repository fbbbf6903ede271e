"""The config service on a memory log, behind a real gRPC server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.adapters.fencing import Fenced, Fencing
from copycat_config.adapters.server import register
from copycat_config.domain.decide import decide
from copycat_config.domain.evolve import evolve
from copycat_config.domain.state import ConfigState
from copycat_connect.cluster import Config
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Log, Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_rpc.channel import open_channel
from copycat_rpc.server import RpcServer


@dataclass
class FakeFormerTasks:
    """Notes what it fences, and waits or fails where a test wants it to."""

    fenced: list[tuple[str, list[int]]] = field(default_factory=list)
    configs: list[Config] = field(default_factory=list)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None

    async def fence(self, connector: str, config: Config, tasks: Sequence[int]) -> None:
        self.fenced.append((connector, list(tasks)))
        self.configs.append(config)
        await self.may_end.wait()
        if self.failure is not None:
            raise self.failure


class CountedFencing(Fencing):
    """Counts who has asked."""

    asked = 0

    async def fence(self, connector: str) -> Fenced:
        self.asked += 1
        return await super().fence(connector)


@dataclass
class World:
    """A running service and what it stands on."""

    stub: Any
    topic: MemoryTopic
    address: str
    former: FakeFormerTasks
    fencing: CountedFencing

    def keys(self) -> list[str]:
        """The keys in the topic, tombstones marked."""
        return [
            entry.record.key.decode() + ("!" if entry.record.value is None else "")
            for entry in self.topic.entries
        ]

    def write(self, key: str, value: str | None) -> None:
        """Write to the topic as another program may."""
        self.topic.write([Record(key.encode(), None if value is None else value.encode())])


@asynccontextmanager
async def serving(
    topic: MemoryTopic, open_log: Callable[[MemoryTopic], Log] = MemoryLog
) -> AsyncIterator[World]:
    """Run an instance of the service on a topic."""
    decider = Decider(ConfigState(), decide, evolve)
    events = EventSourced(decider, ConfigCodec(), open_log(topic), history=8)
    server, former = RpcServer("127.0.0.1:0"), FakeFormerTasks()
    former.may_end.set()
    async with aclosing(CountedFencing(events, former)) as fencing:
        register(server, events, fencing)
        address = await server.start()
        await events.start()
        channel = open_channel([address])
        try:
            yield World(ConfigServiceStub(channel), topic, address, former, fencing)
        finally:
            await channel.close(None)
            await server.stop(0)
            await events.stop()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serving(MemoryTopic()) as running:
        yield running
