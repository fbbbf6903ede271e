"""What a change of offsets would do, shown before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.types.v1 import types_pb2
from copycat_rest.answers import Moved
from copycat_rpc.errors import RemoteError

from copycat_gateway.bodies import OffsetEntry
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.errors import BadRequestError, FailedRequestError
from copycat_gateway.offsets.altering import read_source
from copycat_gateway.offsets.bodies import SinkChange, as_known, sink_changes, source_changes
from copycat_gateway.offsets.memory import moves, source_moves
from copycat_gateway.offsets.query import Moment
from copycat_gateway.offsets.target import Target, otherwise
from copycat_gateway.views.offsets import sink_moved, source_moved

NOT_ASKED: Final = (
    "The connector was not asked whether it takes these offsets: it is asked when they are changed, since it"
    " may change another system then"
)
AT_MOST: Final = (
    "Records are counted by their offsets: transactions and compaction leave gaps, so it is at most so many"
)
STRUCTURES: Final[dict[type, str]] = {dict: "MAP", list: "ARRAY"}


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that can be made, and what it would do."""

    moved: list[Moved]
    """What it does to each partition."""
    notes: list[str]
    """What else a user should know."""
    source: Sequence[types_pb2.SourceOffset] = ()
    """What is to be set, of a source."""
    sink: Sequence[SinkChange] = ()
    """What is to be set, of a sink."""

    @property
    def empty(self) -> bool:
        """Whether everything is already where it would go."""
        return not (self.source or self.sink)


async def plan_entries(services: Services, target: Target, entries: Sequence[OffsetEntry]) -> Plan:
    """Plan what a body asks for."""
    if target.is_sink:
        return await plan_sink(services, target, sink_changes(entries))
    _check_flat(entries)
    return await plan_source(services, target, source_changes(entries))


async def plan_reset(services: Services, target: Target) -> Plan:
    """Plan to forget everything."""
    if target.is_sink:
        return await _plan_sink(services, target, offset_pb2.DescribeSinkMovesRequest(reset=True))
    known = await read_source(services, target)
    gone = [types_pb2.SourceOffset(partition=entry.partition) for entry in known]
    return await _plan_source(services, target, known, gone)


async def plan_moment(services: Services, target: Target, moment: Moment) -> Plan:
    """Plan to move every position to a time.

    Raises:
        BadRequestError: Nothing has a position, or the connector cannot find offsets by time.
    """
    if not target.is_sink:
        return await _plan_source_moment(services, target, moment)
    request = offset_pb2.DescribeSinkMovesRequest(time=moment.millis, only_back=moment.only_back)
    plan = await _plan_sink(services, target, request, rewinding=moment.only_back)
    if not plan.moved:
        raise BadRequestError(
            f"Connector {target.name} has no positions to move: consumer group {target.group} has none."
            " It begins where auto.offset.reset says; to begin elsewhere, name the partitions in a body"
        )
    return plan


async def plan_sink(services: Services, target: Target, changes: Iterable[SinkChange]) -> Plan:
    """Plan to set and forget positions of a group."""
    wanted = list(changes)
    request = offset_pb2.DescribeSinkMovesRequest(
        offsets=[
            types_pb2.TopicPartitionOffset(topic=each.topic, partition=each.partition, offset=each.offset)
            for each in wanted
            if each.offset is not None
        ],
        removed=[
            types_pb2.TopicPartition(topic=each.topic, partition=each.partition)
            for each in wanted
            if each.offset is None
        ],
    )
    return await _plan_sink(services, target, request)


async def plan_source(services: Services, target: Target, changes: Sequence[types_pb2.SourceOffset]) -> Plan:
    """Plan to set and forget offsets of a source."""
    known = await read_source(services, target)
    return await _plan_source(services, target, known, as_known(changes, known))


async def _plan_sink(
    services: Services,
    target: Target,
    request: offset_pb2.DescribeSinkMovesRequest,
    *,
    rewinding: bool = False,
) -> Plan:
    request.group_id = target.group
    request.overrides.CopyFrom(target.overrides)
    with otherwise(f"Failed to retrieve consumer group offsets for sink connector {target.name}"):
        effects = (await services.offset.DescribeSinkMoves(request, timeout=left())).effects
    changes = [
        SinkChange(move.topic, move.partition, move.after if move.HasField("after") else None)
        for move in (each.move for each in effects)
        if moves(move)
    ]
    return Plan(sink_moved(effects, rewinding=rewinding), [NOT_ASKED, AT_MOST], sink=changes)


async def _plan_source_moment(services: Services, target: Target, moment: Moment) -> Plan:
    known = await read_source(services, target)
    request = executor_pb2.FindOffsetsRequest(
        config=target.connector.config, offsets=known, time=moment.millis
    )
    try:
        found = await services.workers.ask(lambda executor: executor.FindOffsets(request, timeout=left()))
    except RemoteError as error:
        raise FailedRequestError(error.message) from error
    if not found.known:
        raise BadRequestError(
            f"Source connector {target.name} cannot find its offsets by time: its class does not say how."
            f" Look at them with GET /connectors/{target.name}/offsets, and set the one you want with PATCH"
            " and a body"
        )
    return await _plan_source(services, target, known, found.offsets)


async def _plan_source(
    services: Services,
    target: Target,
    known: Sequence[types_pb2.SourceOffset],
    changes: Sequence[types_pb2.SourceOffset],
) -> Plan:
    wanted = source_moves(known, changes)
    asked = [
        executor_pb2.OffsetsMove(
            partition=move.partition,
            before=move.before if move.HasField("before") else None,
            after=move.after if move.HasField("after") else None,
        )
        for move in wanted
    ]
    notes, effects = [NOT_ASKED], list[executor_pb2.OffsetsEffect]()
    request = executor_pb2.ExplainOffsetsRequest(config=target.connector.config, moves=asked)
    try:
        if asked:
            reply = await services.workers.ask(
                lambda executor: executor.ExplainOffsets(request, timeout=left())
            )
            effects = list(reply.effects)
    except RemoteError as error:
        notes.append(f"The connector was asked what the change does and failed: {error.message}")
    moving = [change for change, move in zip(changes, wanted, strict=True) if moves(move)]
    return Plan(source_moved(asked, effects), notes, source=moving)


def _check_flat(entries: Iterable[OffsetEntry]) -> None:
    """Refuse what the offset service would refuse to write, in its words."""
    for entry in entries:
        for field, value in (*(entry.partition or {}).items(), *(entry.offset or {}).items()):
            if kind := STRUCTURES.get(type(value)):
                raise BadRequestError(
                    f"Offsets may only contain primitive types as values, but field '{field}' contains {kind}"
                )
