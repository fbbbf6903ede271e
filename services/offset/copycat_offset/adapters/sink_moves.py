"""What a change of a group's positions would do, by the group and its cluster's topics."""

from __future__ import annotations

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat_connect.cluster import TopicPartition
from copycat_rpc.configs import config_from_proto

from copycat_offset.adapters import messages
from copycat_offset.adapters.group_clients import GroupClients
from copycat_offset.domain.moves import effects, moves_to_time, named_moves


async def describe_sink_moves(
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
