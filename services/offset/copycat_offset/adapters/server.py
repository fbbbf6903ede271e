"""The offset service over gRPC: requests to commands, outcomes and views to responses."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from weakref import WeakValueDictionary

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1 import offset_service_pb2_grpc as grpc_pb
from copycat_connect.cluster import Instance, TopicPartition
from copycat_rpc.messages import config_from_proto, source_offsets_to_proto
from copycat_rpc.server import RpcServer
from copycat_serving.reads import read_state, revision_to_proto
from copycat_telemetry.changes import log_change

from copycat_offset.adapters import messages
from copycat_offset.adapters.event_sourced import OffsetEvents
from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.group_clients import GroupClients
from copycat_offset.adapters.samples import CommitSamples
from copycat_offset.adapters.source_offsets import SourceOffsets
from copycat_offset.adapters.telling import committed, moved, positioned
from copycat_offset.domain.decide import check_generation
from copycat_offset.domain.errors import PartitionGoneError, TasksAssignedError
from copycat_offset.domain.maps import check_partition
from copycat_offset.domain.moves import effects, moves_to_time, named_moves
from copycat_offset.domain.state import OffsetState
from copycat_offset.domain.views import all_offsets, last_change, offsets_of, with_own

log = logging.getLogger(__name__)


async def _describe_sink_moves(
    clients: GroupClients, request: pb.DescribeSinkMovesRequest
) -> list[pb.SinkEffect]:
    """Return the effects, by topic and partition; nothing is changed."""
    offsets, removed = messages.positions(request.offsets), messages.partitions(request.removed)
    overrides = config_from_proto(request.overrides)
    groups = await clients.of(overrides)
    current = await groups.positions(request.group_id)
    timed = request.HasField("time")
    whole = timed or request.reset
    asked: list[TopicPartition] = [*current] if whole else [*offsets, *removed]
    # Kafka's protocol gives numbers below 0 a meaning of their own.
    time = max(0, request.time) if timed else None
    bounds = await groups.bounds(asked, time) if asked else {}
    if timed:
        moves = moves_to_time(current, bounds, only_back=request.only_back)
    else:
        moves = named_moves(current, offsets, [*current] if request.reset else removed)
    return messages.effect_messages(effects(moves, bounds, clients.unplaced(overrides), timed=timed))


SERVICE = "copycat.offset.v1.OffsetService"


def register(
    server: RpcServer,
    events: OffsetEvents,
    sources: SourceOffsets,
    groups: GroupClients,
    generations: Generations,
    *,
    samples: CommitSamples,
) -> None:
    """Let a server answer for the offsets topics, and for the consumer groups of sinks."""
    servicer = OffsetServicer(events, sources, groups, generations, samples)
    server.add(grpc_pb.add_OffsetServiceServicer_to_server, servicer, SERVICE)


class OffsetServicer(grpc_pb.OffsetServiceServicer):
    """Every write answers once its effect is folded, with the revision at which it is visible (I4).

    Positions of sinks are in Kafka's consumer groups and not in the log, so they have no revision.
    """

    def __init__(
        self,
        events: OffsetEvents,
        sources: SourceOffsets,
        groups: GroupClients,
        generations: Generations,
        samples: CommitSamples,
    ) -> None:
        self._samples = samples
        self._events = events
        self._sources = sources
        self._groups = groups
        self._generations = generations
        self._turns: WeakValueDictionary[Instance, asyncio.Lock] = WeakValueDictionary()

    async def CommitSourceOffsets(
        self, request: pb.CommitSourceOffsetsRequest, context: Any
    ) -> pb.CommitSourceOffsetsResponse:
        """Commit what a source task delivered."""
        newest = await self._generations.newest(request.connector, request.task)
        command = messages.commit_source_offsets(request, newest)
        revision = await self._sources.commit(request, command)
        self._samples.note(request.connector, committed(command.offsets))
        return pb.CommitSourceOffsetsResponse(revision=revision_to_proto(revision))

    async def AlterSourceOffsets(
        self, request: pb.AlterSourceOffsetsRequest, context: Any
    ) -> pb.AlterSourceOffsetsResponse:
        """Set or forget offsets for a user, unless the connector was resumed since the request came."""
        if not await self._generations.without_tasks(request.connector):
            raise TasksAssignedError(request.connector)
        command = messages.alter_source_offsets(request)
        revision = await self._sources.alter(request, command)
        self._samples.note(request.connector, committed(command.offsets))
        return pb.AlterSourceOffsetsResponse(revision=revision_to_proto(revision))

    async def ReadSourceOffsets(
        self, request: pb.ReadSourceOffsetsRequest, context: Any
    ) -> pb.ReadSourceOffsetsResponse:
        """Return the offsets of some partitions."""
        for partition in request.partitions:
            check_partition(partition)
        own = await self._read_to_the_end(request)
        state, revision = await read_state(self._events, request)
        found = offsets_of(with_own(state, own, request.connector), request.connector, request.partitions)
        return pb.ReadSourceOffsetsResponse(offsets=source_offsets_to_proto(found), revision=revision)

    async def ListSourceOffsets(
        self, request: pb.ListSourceOffsetsRequest, context: Any
    ) -> pb.ListSourceOffsetsResponse:
        """Return every known offset of a connector."""
        own = await self._read_to_the_end(request)
        state, revision = await read_state(self._events, request)
        found = all_offsets(with_own(state, own, request.connector), request.connector)
        return pb.ListSourceOffsetsResponse(offsets=source_offsets_to_proto(found), revision=revision)

    async def CommitSinkOffsets(
        self, request: pb.CommitSinkOffsetsRequest, context: Any
    ) -> pb.CommitSinkOffsetsResponse:
        """Commit what a sink task flushed, one call at a time for each task.

        Once a call of a generation was answered, one without positions too, nothing of an older one arrives.
        """
        instance = Instance(request.connector, request.task)
        async with self._turns.setdefault(instance, asyncio.Lock()):
            newest = await self._generations.newest(request.connector, request.task)
            check_generation(request.connector, request.task, request.generation, newest)
            self._generations.heard(request.connector, request.task, request.generation)
            if request.offsets:
                await self._commit_positions(request)
        return pb.CommitSinkOffsetsResponse()

    async def _commit_positions(self, request: pb.CommitSinkOffsetsRequest) -> None:
        groups = await self._groups.of(config_from_proto(request.overrides))
        try:
            await groups.commit(request.group_id, messages.positions(request.offsets))
            self._samples.note(request.connector, positioned(request.offsets))
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

    async def DescribeSinkMoves(
        self, request: pb.DescribeSinkMovesRequest, context: Any
    ) -> pb.DescribeSinkMovesResponse:
        """Say what a change of a group's positions would do."""
        return pb.DescribeSinkMovesResponse(effects=await _describe_sink_moves(self._groups, request))

    async def RememberChange(
        self, request: pb.RememberChangeRequest, context: Any
    ) -> pb.RememberChangeResponse:
        """Remember the change that a user is about to make."""
        command = messages.remember_change(request)
        outcome = await self._events.execute(command)
        # Calls that move a group name no connector. Where the change then fails, the next commit shows it.
        self._samples.note(command.change.connector, moved(command.change))
        return pb.RememberChangeResponse(revision=revision_to_proto(outcome.revision))

    async def GetLastChange(self, request: pb.GetLastChangeRequest, context: Any) -> pb.GetLastChangeResponse:
        """Return the last change that a user made."""
        await self._events.read_to_end()
        state, revision = await read_state(self._events, request)
        change = messages.change_message(last_change(state, request.connector))
        return pb.GetLastChangeResponse(change=change, revision=revision)

    async def _read_to_the_end(
        self, request: pb.ReadSourceOffsetsRequest | pb.ListSourceOffsetsRequest
    ) -> OffsetState | None:
        """Wait until the fold shows the worker's topic; return what is in the connector's own, if any."""
        own, _ = await asyncio.gather(self._sources.own(request), self._events.read_to_end())
        return own
