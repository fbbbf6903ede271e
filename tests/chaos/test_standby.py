"""Two instances of each service: the standby reads on and takes over; there is never a second history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat.offset.v1 import offset_service_pb2 as offset_pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError
from copycat_rpc.channel import open_channel
from copycat_rpc.messages import config_to_proto
from copycat_testkit.cluster import Cluster
from copycat_testkit.kafka import unique
from copycat_testkit.member import RoleMember
from grpc.aio import Channel

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(180), pytest.mark.long]


class Probe(Protocol):
    """Writes numbers to one service and reads them back."""

    async def write(self, channel: Channel, number: int) -> None:
        """Write a number; returns when the service has accepted it."""

    async def read(self, channel: Channel) -> set[int]:
        """Return every number the service shows."""


@dataclass(frozen=True)
class Connectors:
    """To config: stopped connectors, which nobody runs."""

    name: str

    async def write(self, channel: Channel, number: int) -> None:
        await ConfigServiceStub(channel).PutConnector(stopped(f"{self.name}-{number}"))

    async def read(self, channel: Channel) -> set[int]:
        reply = await ConfigServiceStub(channel).ListConnectors(config_pb.ListConnectorsRequest())
        return numbers(self.name, (connector.name for connector in reply.connectors))


@dataclass(frozen=True)
class Offsets:
    """To offset: source partitions."""

    name: str

    async def write(self, channel: Channel, number: int) -> None:
        offset = types_pb2.SourceOffset(partition=b'{"n":%d}' % number, offset=b'{"n":%d}' % number)
        request = offset_pb.AlterSourceOffsetsRequest(connector=self.name, offsets=[offset])
        await OffsetServiceStub(channel).AlterSourceOffsets(request)

    async def read(self, channel: Channel) -> set[int]:
        request = offset_pb.ListSourceOffsetsRequest(connector=self.name)
        reply = await OffsetServiceStub(channel).ListSourceOffsets(request)
        return {int(each.offset[5:-1]) for each in reply.offsets}


@dataclass(frozen=True)
class Topics:
    """To status: active topics."""

    name: str

    async def write(self, channel: Channel, number: int) -> None:
        request = status_pb.ReportTopicsRequest(connector=self.name, task=0, topics=[f"{self.name}-{number}"])
        await StatusServiceStub(channel).ReportTopics(request)

    async def read(self, channel: Channel) -> set[int]:
        reply = await StatusServiceStub(channel).ListTopics(status_pb.ListTopicsRequest(connector=self.name))
        return numbers(self.name, reply.topics)


@dataclass(frozen=True)
class Assignments:
    """To the scheduler: what should run, by way of config; it answers by assigning it."""

    name: str
    config: Channel

    async def write(self, channel: Channel, number: int) -> None:
        await Connectors(self.name).write(self.config, number)
        watch = SchedulerServiceStub(channel).WatchAssignments(scheduler_pb.WatchAssignmentsRequest())
        async for message in watch:
            if message.assignment.instance.connector == f"{self.name}-{number}":
                return

    async def read(self, channel: Channel) -> set[int]:
        reply = await SchedulerServiceStub(channel).ListAssignments(scheduler_pb.ListAssignmentsRequest())
        return numbers(self.name, (each.instance.connector for each in reply.assignments))


async def workers(channel: Channel) -> set[str]:
    """Return the workers that have joined this scheduler; none while it does not lead."""
    try:
        reply = await SchedulerServiceStub(channel).ListWorkers(scheduler_pb.ListWorkersRequest())
    except CopycatError:
        return set()
    return {worker.worker_id for worker in reply.workers}


async def generations(channel: Channel) -> dict[tuple[str, int | None], int]:
    """Return under which generation each instance is assigned: a new one is a new start."""
    reply = await SchedulerServiceStub(channel).ListAssignments(scheduler_pb.ListAssignmentsRequest())
    return {
        (
            each.instance.connector,
            each.instance.task if each.instance.HasField("task") else None,
        ): each.generation
        for each in reply.assignments
    }


def stopped(name: str) -> config_pb.PutConnectorRequest:
    """Return the request that creates a connector nobody runs."""
    config = {"connector.class": "FileStreamSource", "name": name, "file": "none", "topic": name}
    return config_pb.PutConnectorRequest(
        name=name, config=config_to_proto(config), initial_state=types_pb2.TARGET_STATE_STOPPED
    )


def numbers(name: str, found: Iterable[str]) -> set[int]:
    """Return the numbers at the ends of names that begin with `name`."""
    return {int(each.rpartition("-")[2]) for each in found if each.startswith(f"{name}-")}


ROLES = ("config", "offset", "status", "scheduler")
WITHIN = 40.0
WRITERS = 4
#: Written beyond what a test waits for, so that calls are under way at the moment it kills or freezes.
AHEAD = 40
LATE, LAST = 1_000_000, 2_000_000


@pytest.fixture(scope="module")
def cluster(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("standby"), kafka, environment=on_plain_hosts()) as cluster:
        yield cluster


class Load:
    """Writes numbers from several callers and keeps which were accepted.

    The callers stay some numbers ahead of what a test waits for and rest there: a process that takes long to
    start again would else be given thousands.
    """

    def __init__(self, probe: Probe, channel: Channel) -> None:
        self._probe = probe
        self._channel = channel
        self._next = 0
        self._goal = 0
        self._raised = asyncio.Event()
        self.accepted: set[int] = set()

    async def run(self) -> None:
        while True:
            while len(self.accepted) >= self._goal + AHEAD:
                self._raised.clear()
                await self._raised.wait()
            number, self._next = self._next, self._next + 1
            try:
                await self._probe.write(self._channel, number)
            except CopycatError:
                continue  # refused, or nobody knows: the caller does not know that it is kept
            self.accepted.add(number)

    async def more(self, count: int) -> None:
        """Wait until so many more were accepted."""
        self._goal = len(self.accepted) + count
        self._raised.set()
        async with asyncio.timeout(WITHIN):
            while len(self.accepted) < self._goal:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@asynccontextmanager
async def writing(probe: Probe, channel: Channel) -> AsyncIterator[Load]:
    load = Load(probe, channel)
    callers = [asyncio.create_task(load.run()) for _ in range(WRITERS)]
    try:
        yield load
    finally:
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)


@asynccontextmanager
async def probing(cluster: Cluster, role: str) -> AsyncIterator[tuple[Probe, Channel]]:
    """Give a probe of a service, and a channel to all its instances."""
    name = unique(role)
    async with (
        open_channel(cluster.addresses(role), secret=cluster.secret) as channel,
        open_channel(cluster.addresses("config"), secret=cluster.secret) as config,
    ):
        probes: dict[str, Probe] = {
            "config": Connectors(name),
            "offset": Offsets(name),
            "status": Topics(name),
            "scheduler": Assignments(name, config),
        }
        yield probes[role], channel


async def shows(probe: Probe, member: RoleMember, wanted: set[int]) -> set[int]:
    """Wait until one instance shows numbers; returns all it shows then."""
    async with open_channel([member.address], secret=member.secret) as only, asyncio.timeout(WITHIN):
        while not (found := await probe.read(only)) >= wanted:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
        return found


async def roles_of(cluster: Cluster, role: str) -> tuple[RoleMember, RoleMember]:
    """Return leader and standby."""
    leader = await asyncio.to_thread(cluster.leader, role)
    return leader, next(member for member in cluster.members[role] if member is not leader)


async def back(member: RoleMember) -> None:
    """Start an instance again that has ended."""
    if not member.runs:
        member.start()
    await asyncio.to_thread(member.wait_serving)


async def test_a_standby_tells_its_watchers_what_the_leader_writes(cluster: Cluster) -> None:
    _, standby = await roles_of(cluster, "config")
    async with (
        probing(cluster, "config") as (probe, channel),
        open_channel([standby.address], secret=cluster.secret) as only,
    ):
        watch = ConfigServiceStub(only).WatchConnectors(config_pb.WatchConnectorsRequest())
        await probe.write(channel, LAST)
        told = (message.connector.name async for message in watch)
        async with asyncio.timeout(WITHIN):
            while not (await anext(told)).endswith(f"-{LAST}"):
                continue


@pytest.mark.parametrize("role", ROLES)
async def test_a_standby_takes_over_from_a_killed_leader_and_nothing_accepted_is_lost(
    cluster: Cluster, role: str
) -> None:
    leader, standby = await roles_of(cluster, role)
    async with probing(cluster, role) as (probe, channel), writing(probe, channel) as load:
        await load.more(20)
        leader.kill()
        before = set(load.accepted)
        assert await shows(probe, standby, before) >= before, "the standby reads on while nobody leads"
        assert standby.serving()
        await load.more(20)
        assert await asyncio.to_thread(cluster.leader, role) is standby
        await back(leader)
        await load.more(20)
        accepted = set(load.accepted)
        for member in cluster.members[role]:
            assert await shows(probe, member, accepted) >= accepted


@pytest.mark.parametrize("role", ROLES)
async def test_a_leader_that_is_told_to_end_hands_over(cluster: Cluster, role: str) -> None:
    leader, standby = await roles_of(cluster, role)
    async with probing(cluster, role) as (probe, channel), writing(probe, channel) as load:
        await load.more(5)
        assert await asyncio.to_thread(leader.end) == 0
        await load.more(20)
        assert await asyncio.to_thread(cluster.leader, role) is standby
        await back(leader)
        accepted = set(load.accepted)
        for member in cluster.members[role]:
            assert await shows(probe, member, accepted) >= accepted


@pytest.mark.parametrize("role", ["config", "offset", "status"])
async def test_a_frozen_leader_that_wakes_up_makes_no_second_history(cluster: Cluster, role: str) -> None:
    zombie, standby = await roles_of(cluster, role)
    async with probing(cluster, role) as (probe, channel):
        async with open_channel([standby.address], secret=cluster.secret) as successor:
            zombie.freeze()
            async with writing(probe, successor) as load:
                await load.more(20)
        accepted = set(load.accepted)
        known = grpc.composite_channel_credentials(
            grpc.local_channel_credentials(), grpc.access_token_call_credentials(cluster.secret)
        )
        async with grpc.aio.secure_channel(zombie.address, known) as past:  # repeats no call
            late = asyncio.create_task(probe.write(past, LATE))
            zombie.thaw()
            refused = isinstance((await asyncio.gather(late, return_exceptions=True))[0], grpc.RpcError)
        await back(zombie)
        await probe.write(channel, LAST)
        histories = [await shows(probe, member, accepted | {LAST}) for member in cluster.members[role]]
    assert histories[0] == histories[1]
    # Elected anew it may write after what the other one wrote; otherwise it says that it did not.
    assert refused == (LATE not in histories[0])


async def test_a_frozen_scheduler_costs_no_worker_its_work(cluster: Cluster) -> None:
    zombie, standby = await roles_of(cluster, "scheduler")
    everybody = set(cluster.addresses("executor"))
    async with (
        probing(cluster, "scheduler") as (probe, _),
        open_channel([standby.address], secret=cluster.secret) as successor,
    ):
        async with writing(probe, successor) as load:
            await load.more(5)
        before = await generations(successor)
        zombie.freeze()
        async with asyncio.timeout(WITHIN):
            while await workers(successor) != everybody:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
        await probe.write(successor, LAST)
        zombie.thaw()
        await back(zombie)
        after = await generations(successor)
        assert {key: after.get(key) for key in before} == before
        for member in cluster.members["scheduler"]:
            assert await shows(probe, member, load.accepted | {LAST}) >= load.accepted
