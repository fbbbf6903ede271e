"""The config service on a memory log, behind a real gRPC server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.adapters.server import register
from copycat_config.domain.decide import decide
from copycat_config.domain.evolve import evolve
from copycat_config.domain.state import ConfigState
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_rpc.channel import open_channel
from copycat_rpc.server import RpcServer


@dataclass
class World:
    """A running service and what it stands on."""

    stub: Any
    topic: MemoryTopic
    address: str

    def keys(self) -> list[str]:
        """The keys in the topic, tombstones marked."""
        return [
            entry.record.key.decode() + ("!" if entry.record.value is None else "")
            for entry in self.topic.entries
        ]

    def write(self, key: str, value: str | None) -> None:
        """Write to the topic as another program may."""
        self.topic.write([Record(key.encode(), None if value is None else value.encode())])


@pytest.fixture
async def world() -> AsyncIterator[World]:
    topic = MemoryTopic()
    decider = Decider(ConfigState(), decide, evolve)
    events = EventSourced(decider, ConfigCodec(), MemoryLog(topic), history=8)
    server = RpcServer("127.0.0.1:0")
    register(server, events)
    address = await server.start()
    await events.start()
    channel = open_channel([address])
    try:
        yield World(ConfigServiceStub(channel), topic, address)
    finally:
        await channel.close(None)
        await server.stop(0)
        await events.stop()
