"""The client's watches: what they begin with, and how they outlive streams, services and compaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from copycat_client.client import CopycatClient
from copycat_client.connectors import Connector, LoggerLevelSet, Removed, RestartRequested
from copycat_client.revisions import Revision
from copycat_client.watching import Change, Snapshot, Stale
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.adapters.fencing import Fencing
from copycat_config.adapters.former_tasks import NoFormerTasks
from copycat_config.adapters.server import register
from copycat_config.domain.decide import decide
from copycat_config.domain.evolve import evolve
from copycat_config.domain.state import ConfigState
from copycat_connect.cluster import TargetState
from copycat_connect.errors import UnavailableError
from copycat_embedded.ports import free_ports
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses

CONFIG = {"connector.class": "FileStreamSource", "empty": None}
HISTORY = 4
SECONDS = 60.0


@pytest.fixture
def topic() -> MemoryTopic:
    return MemoryTopic()


@pytest.fixture
def address() -> str:
    return f"127.0.0.1:{free_ports(1)[0]}"


@asynccontextmanager
async def service(topic: MemoryTopic, address: str) -> AsyncIterator[None]:
    """Run a config service that remembers a few changes only."""
    events = EventSourced(
        Decider(ConfigState(), decide, evolve), ConfigCodec(), MemoryLog(topic), history=HISTORY
    )
    server = RpcServer(address)
    register(server, events, Fencing(events, NoFormerTasks()))
    await server.start()
    await events.start()
    await server.set_serving(True)
    try:
        yield
    finally:
        events.end_watches()
        await server.stop(0)
        await events.stop()


@pytest.fixture
async def copycat(address: str) -> AsyncIterator[CopycatClient]:
    async with CopycatClient(Addresses(config=[address])) as client:
        yield client


async def news(events: Any) -> Any:
    """Return the next that is no sign of a lost stream."""
    async with asyncio.timeout(SECONDS):
        while isinstance(event := await anext(events), Stale):
            pass
        return event


async def test_it_begins_with_all_there_is_and_goes_on_with_each_change(
    copycat: CopycatClient, topic: MemoryTopic, address: str
) -> None:
    async with service(topic, address), aclosing(copycat.configs.watch()) as events:
        made = await copycat.configs.put("a", CONFIG)
        snapshot = await news(events)
        assert snapshot == Snapshot((made.connector,), made.revision)
        assert made.connector.config == CONFIG

        paused = await copycat.configs.set_target_state("a", TargetState.PAUSED)
        changed = await news(events)
        assert isinstance(changed.item, Connector)
        assert (changed.item.target_state, changed.revision) == (TargetState.PAUSED, paused)

        await copycat.configs.request_restart("a", include_tasks=True)
        await copycat.configs.set_logger_level("org.example", "DEBUG")
        await copycat.configs.delete("a")
        items = [(await news(events)).item for _ in range(3)]
        assert items == [
            RestartRequested("a", include_tasks=True, only_failed=False),
            LoggerLevelSet("org.example", "DEBUG"),
            Removed("a"),
        ]


async def test_a_stream_lost_with_its_service_goes_on_where_it_ended(
    copycat: CopycatClient, topic: MemoryTopic, address: str
) -> None:
    async with aclosing(copycat.configs.watch()) as events:
        async with service(topic, address):
            await copycat.configs.put("a", CONFIG)
            assert [each.name for each in (await news(events)).items] == ["a"]
        assert await asyncio.wait_for(anext(events), SECONDS) == Stale()
        async with service(topic, address):
            await copycat.configs.put("b", CONFIG)
            change = await news(events)
    assert isinstance(change, Change)
    assert change.item.name == "b"


async def test_where_the_log_was_compacted_a_new_snapshot_comes(
    copycat: CopycatClient, topic: MemoryTopic, address: str
) -> None:
    async with service(topic, address):
        first = (await copycat.configs.put("a", CONFIG)).revision
        for number in range(2 * HISTORY):
            last = (await copycat.configs.put("a", {**CONFIG, "number": str(number)})).revision
        async with aclosing(copycat.configs.watch(after=first)) as events:
            snapshot = await news(events)
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.items[0].config["number"], snapshot.revision) == (str(2 * HISTORY - 1), last)


async def test_a_read_waits_for_its_revision_no_longer_than_its_deadline(
    copycat: CopycatClient, topic: MemoryTopic, address: str
) -> None:
    async with service(topic, address):
        revision = (await copycat.configs.put("a", CONFIG)).revision
        assert (await copycat.configs.get("a", min_revision=revision)).revision == revision
        later = Revision({0: revision.next[0] + 1})
        waiting = asyncio.create_task(copycat.configs.list(min_revision=later))
        await copycat.configs.put("b", CONFIG)
        assert [connector.name for connector in (await waiting).value] == ["a", "b"]
        with pytest.raises(UnavailableError, match="deadline_exceeded"):
            await copycat.configs.list(min_revision=Revision({0: 1000}), timeout=0.2)


async def test_health_tells_which_services_serve(
    copycat: CopycatClient, topic: MemoryTopic, address: str
) -> None:
    async with service(topic, address):
        health = await copycat.health(timeout=1.0)
    assert health["config"]
    assert not (await copycat.health(timeout=0.2))["config"]
