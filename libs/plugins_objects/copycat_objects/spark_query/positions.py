"""Source partitions and offsets of SparkQuery: of partitions of topics, or of a query with state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import OffsetEffect, OffsetMove
from copycat_connect.plugin.spark import BATCH, EPOCH, QUERY, SLOT

Partition = Mapping[str, Any]
Offset = Mapping[str, Any]
TOPIC, PARTITION, OFFSET = "topic", "partition", "offset"
_OWN: Final = frozenset({TOPIC, PARTITION})
_OF_STATE: Final = frozenset({EPOCH, BATCH})


def source_partition(partition: TopicPartition) -> dict[str, str | int]:
    """Return the source partition of a partition of a topic."""
    return {TOPIC: partition.topic, PARTITION: partition.partition}


def check_move(partition: Partition | None, offset: Offset | None, *, has_state: bool) -> None:
    """Accept an offset that a user gives, or what was there before.

    Raises:
        ConnectError: It is not one of this connector.
    """
    if offset is None:
        return
    if has_state:
        _check_query(partition or {}, offset)
        return
    if partition is None or partition.keys() != _OWN or not _is_count(partition[PARTITION]):
        raise ConnectError(
            f"A source partition of this connector is {{{TOPIC}: the topic, {PARTITION}: the number of its "
            "partition}"
        )
    if offset.keys() != {OFFSET} or not _is_count(offset[OFFSET]):
        raise ConnectError(f"An offset of this connector is {{{OFFSET}: that of the next record, from 0 up}}")


def _check_query(partition: Partition, offset: Offset) -> None:
    """Accept the offset of a query, or of a part of its state."""
    if partition.keys() not in ({QUERY}, {QUERY, SLOT}):
        raise ConnectError(
            f"A source partition of a query with state is {{{QUERY}: the connector}}, of a part of its state "
            f"{{{QUERY}: the connector, {SLOT}: a number}}"
        )
    positions = {name: place for name, place in offset.items() if name not in _OF_STATE}
    if SLOT in partition and positions:
        raise ConnectError(f"The offset of a part of the state is {{{EPOCH}: ..., {BATCH}: a number}}")
    for name, place in positions.items():
        topic, _, number = name.rpartition("-")
        if not topic or not number.isdigit() or not _is_count(place):
            raise ConnectError(
                "The offset of a query with state has the offset of the next record, from 0 up, under the "
                f"name of each partition, such as orders-0; {name} is none"
            )


def effect_of(move: OffsetMove) -> OffsetEffect | None:
    """Return how many records a move repeats or skips, markers of transactions included; None if unknown."""
    if SLOT in move.partition:
        return OffsetEffect(0, 0)
    if QUERY not in move.partition:
        return _between(move.before, move.after, (OFFSET,), "records")
    before, after = move.before or {}, move.after or {}
    if before == after:
        return OffsetEffect(0, 0)
    return _between(before, after, {*before, *after} - _OF_STATE, "records, read into an empty state")


def _between(
    before: Offset | None, after: Offset | None, names: Iterable[str], unit: str
) -> OffsetEffect | None:
    repeated = skipped = 0
    for name in names:
        moves = [(offset or {}).get(name, 0) for offset in (before, after)]
        if not all(map(_is_count, moves)):
            return None
        repeated += max(moves[0] - moves[1], 0)
        skipped += max(moves[1] - moves[0], 0)
    return OffsetEffect(repeated, skipped, unit)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
