"""What a standby test writes to a service and reads from it: numbers, so that a lost one is seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

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
from copycat_rpc.messages import config_to_proto
from grpc.aio import Channel


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
