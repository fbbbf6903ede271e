"""Who may move which offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets, OffsetCommand
from copycat_offset.domain.errors import StaleCommitError
from copycat_offset.domain.events import OffsetEvent, SourceOffsetCommitted, SourceOffsetForgotten
from copycat_offset.domain.maps import NULL, check_maps
from copycat_offset.domain.state import NO_PARTITIONS, OffsetState


def decide(command: OffsetCommand, state: OffsetState) -> tuple[OffsetEvent, ...]:
    """Return the events a command leads to.

    Raises:
        StaleCommitError: A newer assignment of the task exists (I2).
        OffsetFormatError: A partition or an offset is not a flat JSON object.
    """
    match command:
        case CommitSourceOffsets(connector, task, generation, newest, offsets):
            check_generation(connector, task, generation, newest)
            return _changes(connector, offsets, state)
        case AlterSourceOffsets(connector, offsets):
            return _changes(connector, offsets, state)
        case _:
            assert_never(command)


def check_generation(connector: str, task: int, generation: int, newest: int | None) -> None:
    """Refuse a commit of a task that has been given to somebody else since.

    Raises:
        StaleCommitError: `newest` is above `generation`.
    """
    if newest is not None and generation < newest:  # I2: the newer assignment owns the offsets.
        raise StaleCommitError(connector, task, generation, newest)


def _changes(
    connector: str, offsets: Mapping[bytes, bytes | None], state: OffsetState
) -> tuple[OffsetEvent, ...]:
    check_maps(offsets)
    known = state.connectors.get(connector, NO_PARTITIONS)
    events: list[OffsetEvent] = []
    for partition, given in offsets.items():
        offset = None if given == NULL else given
        if offset == known.get(partition):
            continue
        events.append(
            SourceOffsetForgotten(connector, partition)
            if offset is None
            else SourceOffsetCommitted(connector, partition, offset)
        )
    return tuple(events)
