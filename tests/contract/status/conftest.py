"""The status service on a memory log, behind a real gRPC server."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.past.keeper import MemoryKeeper
from copycat_rpc.channel import open_channel
from copycat_rpc.server import RpcServer
from copycat_status.adapters.event_sourced import event_sourced
from copycat_status.adapters.retrying import Retrying
from copycat_status.adapters.server import register
from copycat_status.adapters.writer import StatusWriter
from copycat_status.domain.tracking import Tracking
from copycat_testkit.held_log import HeldLog

RETRY = RetryPolicy(first=0.01, ceiling=10.0, jitter=0.25, max_retries=5)


@dataclass
class World:
    """A running service and what it stands on."""

    stub: Any
    topic: MemoryTopic
    log: HeldLog

    def keys(self) -> list[str]:
        """The keys in the topic, tombstones marked."""
        return [
            entry.record.key.decode() + ("!" if entry.record.value is None else "")
            for entry in self.topic.entries
        ]

    def write(self, key: str, value: str | None) -> None:
        """Write to the topic as another program may."""
        self.topic.write([Record(key.encode(), None if value is None else value.encode())])


Running = Callable[..., AbstractAsyncContextManager[World]]


@asynccontextmanager
async def run(tracking: Tracking | None = None, backoff: RetryPolicy = RETRY) -> AsyncIterator[World]:
    topic = MemoryTopic()
    log = HeldLog(MemoryLog(topic))
    events = event_sourced(log)
    writer = StatusWriter(Retrying(events, backoff))
    server = RpcServer("127.0.0.1:0")
    register(server, events, writer, tracking or Tracking(), MemoryKeeper())
    address = await server.start()
    await events.start()
    channel = open_channel([address])
    try:
        async with writer.running():
            yield World(StatusServiceStub(channel), topic, log)
    finally:
        await channel.close(None)
        await server.stop(0)
        await events.stop()


@pytest.fixture
def running() -> Running:
    """Start a service with settings of the test's own."""
    return run


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with run() as running_world:
        yield running_world
