"""Who may move which offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from copycat_offset.domain.changes import OffsetsChange, fitting
from copycat_offset.domain.commands import (
    AlterSourceOffsets,
    CommitSourceOffsets,
    OffsetCommand,
    RememberChange,
)
from copycat_offset.domain.errors import OffsetsMovedError, StaleCommitError
from copycat_offset.domain.events import (
    ChangeRemembered,
    OffsetEvent,
    SourceOffsetCommitted,
    SourceOffsetForgotten,
)
from copycat_offset.domain.maps import NULL, check_maps
from copycat_offset.domain.state import NO_PARTITIONS, OffsetState


def decide(command: OffsetCommand, state: OffsetState) -> tuple[OffsetEvent, ...]:
    """Return the events a command leads to.

    Raises:
        StaleCommitError: A newer assignment of the task exists (I2).
        OffsetsMovedError: Another task has committed what this one did not know.
        OffsetFormatError: A partition or an offset is not a flat JSON object.
    """
    match command:
        case CommitSourceOffsets(connector, task, generation, newest, offsets, expected):
            check_generation(connector, task, generation, newest)
            check_expected(connector, expected, state)
            return _changes(connector, offsets, state)
        case AlterSourceOffsets(connector, offsets):
            return _changes(connector, offsets, state)
        case RememberChange(change):
            return _remembered(change, state)
        case _:
            assert_never(command)


def check_generation(connector: str, task: int, generation: int, newest: int | None) -> None:
    """Refuse a commit of a task that has been given to somebody else since.

    Raises:
        StaleCommitError: `newest` is above `generation`.
    """
    if newest is not None and generation < newest:  # I2: the newer assignment owns the offsets.
        raise StaleCommitError(connector, task, generation, newest)


def check_expected(connector: str, expected: Mapping[bytes, bytes | None], state: OffsetState) -> None:
    """Refuse a commit that rests on other offsets than the committed ones.

    Tasks that commit before they deliver would else deliver the same records twice while a source partition
    moves from one to the other: the earlier one, not yet stopped, commits after the later one has read.

    Raises:
        OffsetsMovedError: One of them is another one now.
    """
    known = state.connectors.get(connector, NO_PARTITIONS)
    for partition, offset in expected.items():
        if known.get(partition) != offset:
            raise OffsetsMovedError(connector, partition)


def checked(offsets: Mapping[bytes, bytes | None]) -> dict[bytes, bytes | None]:
    """Return offsets that may be written, None for those to forget.

    Raises:
        OffsetFormatError: A partition or an offset is not a flat JSON object.
    """
    check_maps(offsets)
    return {partition: None if offset == NULL else offset for partition, offset in offsets.items()}


def facts(connector: str, offsets: Mapping[bytes, bytes | None]) -> tuple[OffsetEvent, ...]:
    """Return what offsets that may be written state, one fact each."""
    return tuple(
        SourceOffsetForgotten(connector, partition)
        if offset is None
        else SourceOffsetCommitted(connector, partition, offset)
        for partition, offset in offsets.items()
    )


def _changes(
    connector: str, offsets: Mapping[bytes, bytes | None], state: OffsetState
) -> tuple[OffsetEvent, ...]:
    known = state.connectors.get(connector, NO_PARTITIONS)
    given = checked(offsets)
    return facts(connector, {each: offset for each, offset in given.items() if offset != known.get(each)})


def _remembered(change: OffsetsChange, state: OffsetState) -> tuple[OffsetEvent, ...]:
    for move in change.source:
        for offset in (move.before, move.after):
            check_maps({move.partition: offset})
    kept = fitting(change)
    return () if state.changes.get(change.connector) == kept else (ChangeRemembered(kept),)
