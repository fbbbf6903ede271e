"""What a change of a sink's positions would do: how many records it repeats, and how many it skips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from copycat_connect.cluster import TopicPartition

from copycat_offset.domain.changes import SinkMove


class Unplaced(Enum):
    """Where a sink begins in a partition in which it has no position, or one that the partition has not."""

    BEGINNING = "earliest"
    END = "latest"
    UNKNOWN = "none"
    """It fails, or begins somewhere that is unknown here."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a partition of a topic holds."""

    low: int
    """The oldest offset it holds."""
    high: int
    """The offset that its next record will have."""
    at: int | None = None
    """The first offset as new as the time asked for; None without such an offset or a time."""


@dataclass(frozen=True, slots=True)
class SinkEffect:
    """What a change would do to one partition; counts are of offsets, so at most of records."""

    move: SinkMove
    """From where to where."""
    bounds: Bounds | None
    """What the partition holds; None where there is no such partition."""
    repeated: int | None = None
    """Offsets that would be read once more; None when that is unknown."""
    skipped: int | None = None
    """Offsets that would not be read; None when that is unknown."""
    out_of_range: bool = False
    """The partition does not have the new position."""
    nothing_since: bool = False
    """No record is as new as the time asked for."""
    nothing_older: bool = False
    """All that the partition holds is as new as the time asked for."""


def named_moves(
    current: Mapping[TopicPartition, int],
    offsets: Mapping[TopicPartition, int],
    removed: Collection[TopicPartition],
) -> list[SinkMove]:
    """Return the moves of a change that names its partitions."""
    after: dict[TopicPartition, int | None] = {**offsets, **dict.fromkeys(removed)}
    return [_move(partition, current.get(partition), offset) for partition, offset in after.items()]


def moves_to_time(
    current: Mapping[TopicPartition, int], bounds: Mapping[TopicPartition, Bounds], *, only_back: bool
) -> list[SinkMove]:
    """Return the moves of all positions to a time, for which the bounds were asked.

    A partition without a record as new goes to its end; one that is gone stays. With `only_back` no
    position moves forward.
    """
    moves = []
    for partition, before in current.items():
        there = bounds.get(partition)
        after = before if there is None else there.high if there.at is None else there.at
        moves.append(_move(partition, before, min(before, after) if only_back else after))
    return moves


def effects(
    moves: Iterable[SinkMove], bounds: Mapping[TopicPartition, Bounds], unplaced: Unplaced, *, timed: bool
) -> list[SinkEffect]:
    """Return what moves would do, by topic and partition; `timed`: the bounds were asked for a time."""
    found = [
        _effect(move, bounds.get(TopicPartition(move.topic, move.partition)), unplaced, timed=timed)
        for move in moves
    ]
    return sorted(found, key=lambda each: (each.move.topic, each.move.partition))


def _effect(move: SinkMove, bounds: Bounds | None, unplaced: Unplaced, *, timed: bool) -> SinkEffect:
    if bounds is None:
        return SinkEffect(move, None, out_of_range=True)
    begins, would_begin = (_begins(offset, bounds, unplaced) for offset in (move.before, move.after))
    return SinkEffect(
        move,
        bounds,
        repeated=None if begins is None or would_begin is None else max(0, begins - would_begin),
        skipped=None if begins is None or would_begin is None else max(0, would_begin - begins),
        out_of_range=move.after is not None and not bounds.low <= move.after <= bounds.high,
        nothing_since=timed and bounds.at is None,
        nothing_older=timed and bounds.at == bounds.low,
    )


def _begins(offset: int | None, bounds: Bounds, unplaced: Unplaced) -> int | None:
    """Return the offset at which a consumer with this position would begin to read."""
    if offset is not None and bounds.low <= offset <= bounds.high:
        return offset
    return {Unplaced.BEGINNING: bounds.low, Unplaced.END: bounds.high}.get(unplaced)


def _move(partition: TopicPartition, before: int | None, after: int | None) -> SinkMove:
    return SinkMove(partition.topic, partition.partition, before, after)
