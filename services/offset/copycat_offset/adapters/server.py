"""The offset service over gRPC: requests to commands, outcomes and views to responses."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1 import offset_service_pb2_grpc as grpc_pb
from copycat_eventlog.log import Log
from copycat_rpc.configs import config_from_proto
from copycat_rpc.server import RpcServer
from copycat_serving.revisions import read_state, revision_to_proto
from copycat_telemetry.changes import log_change

from copycat_offset.adapters import messages
from copycat_offset.adapters.event_sourced import OffsetEvents
from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.group_clients import GroupClients
from copycat_offset.domain.decide import check_generation
from copycat_offset.domain.errors import PartitionGoneError
from copycat_offset.domain.maps import check_partition
from copycat_offset.domain.views import all_offsets, offsets_of

log = logging.getLogger(__name__)

SERVICE = "copycat.offset.v1.OffsetService"


def register(
    server: RpcServer,
    events: OffsetEvents,
    offsets_log: Log,
    groups: GroupClients,
    generations: Generations,
) -> None:
    """Let a server answer for the offsets topic, and for the consumer groups of sinks."""
    servicer = OffsetServicer(events, offsets_log, groups, generations)
    server.add(grpc_pb.add_OffsetServiceServicer_to_server, servicer, SERVICE)


class OffsetServicer(grpc_pb.OffsetServiceServicer):
    """Every write answers once its effect is folded, with the revision at which it is visible (I4).

    Positions of sinks are in Kafka's consumer groups and not in the log, so they have no revision.
    """

    def __init__(
        self, events: OffsetEvents, offsets_log: Log, groups: GroupClients, generations: Generations
    ) -> None:
        self._events = events
        self._log = offsets_log
        self._groups = groups
        self._generations = generations

    async def CommitSourceOffsets(
        self, request: pb.CommitSourceOffsetsRequest, context: Any
    ) -> pb.CommitSourceOffsetsResponse:
        """Commit what a source task delivered."""
        newest = await self._generations.newest(request.connector, request.task)
        outcome = await self._events.execute(messages.commit_source_offsets(request, newest))
        return pb.CommitSourceOffsetsResponse(revision=revision_to_proto(outcome.revision))

    async def AlterSourceOffsets(
        self, request: pb.AlterSourceOffsetsRequest, context: Any
    ) -> pb.AlterSourceOffsetsResponse:
        """Set or forget offsets for a user."""
        outcome = await self._events.execute(messages.alter_source_offsets(request))
        return pb.AlterSourceOffsetsResponse(revision=revision_to_proto(outcome.revision))

    async def ReadSourceOffsets(
        self, request: pb.ReadSourceOffsetsRequest, context: Any
    ) -> pb.ReadSourceOffsetsResponse:
        """Return the offsets of some partitions."""
        for partition in request.partitions:
            check_partition(partition)
        await self._read_to_the_end()
        state, revision = await read_state(self._events, request)
        found = offsets_of(state, request.connector, request.partitions)
        return pb.ReadSourceOffsetsResponse(offsets=messages.source_offset_messages(found), revision=revision)

    async def ListSourceOffsets(
        self, request: pb.ListSourceOffsetsRequest, context: Any
    ) -> pb.ListSourceOffsetsResponse:
        """Return every known offset of a connector."""
        await self._read_to_the_end()
        state, revision = await read_state(self._events, request)
        found = all_offsets(state, request.connector)
        return pb.ListSourceOffsetsResponse(offsets=messages.source_offset_messages(found), revision=revision)

    async def CommitSinkOffsets(
        self, request: pb.CommitSinkOffsetsRequest, context: Any
    ) -> pb.CommitSinkOffsetsResponse:
        """Commit what a sink task flushed."""
        newest = await self._generations.newest(request.connector, request.task)
        check_generation(request.connector, request.task, request.generation, newest)
        if request.offsets:
            groups = await self._groups.of(config_from_proto(request.overrides))
            try:
                await groups.commit(request.group_id, messages.positions(request.offsets))
            except PartitionGoneError as gone:
                # Tried until it works, it would be a position in the next topic of that name: records lost.
                log_change(
                    log,
                    "positions of a sink dropped with their topic",
                    logging.WARNING,
                    connector=request.connector,
                    task=request.task,
                    group=request.group_id,
                    why=gone.message,
                )
        return pb.CommitSinkOffsetsResponse()

    async def ListSinkOffsets(
        self, request: pb.ListSinkOffsetsRequest, context: Any
    ) -> pb.ListSinkOffsetsResponse:
        """Return the positions of a group."""
        groups = await self._groups.of(config_from_proto(request.overrides))
        positions = await groups.positions(request.group_id)
        return pb.ListSinkOffsetsResponse(offsets=messages.position_messages(positions))

    async def AlterSinkOffsets(
        self, request: pb.AlterSinkOffsetsRequest, context: Any
    ) -> pb.AlterSinkOffsetsResponse:
        """Set and remove positions of a group; both are tried, then the first failure is raised."""
        positions, removed = messages.positions(request.offsets), messages.partitions(request.removed)
        groups, changes = await self._groups.of(config_from_proto(request.overrides)), []
        if positions:
            changes.append(groups.commit(request.group_id, positions))
        if removed:
            changes.append(groups.forget(request.group_id, removed))
        for result in await asyncio.gather(*changes, return_exceptions=True):
            if result is not None:
                raise result
        return pb.AlterSinkOffsetsResponse()

    async def DeleteSinkOffsets(
        self, request: pb.DeleteSinkOffsetsRequest, context: Any
    ) -> pb.DeleteSinkOffsetsResponse:
        """Delete a group."""
        groups = await self._groups.of(config_from_proto(request.overrides))
        await groups.delete(request.group_id)
        return pb.DeleteSinkOffsetsResponse()

    async def _read_to_the_end(self) -> None:
        """Wait until the fold shows what was in the log when the call came, whoever wrote it."""
        await self._events.reached(await self._log.end())
