"""Source partitions and offsets of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import OffsetEffect, OffsetMove

from copycat_objects.formats.reader import START, RecordPlace
from copycat_objects.source.settings import (
    BROKEN,
    DONE,
    MODIFIED,
    PATH,
    POSITION,
    RECORD,
    SIZE,
    STORE,
)
from copycat_objects.stores.store import StoredFile

Offset = Mapping[str, Any]


def partition_of(store: str, path: str) -> dict[str, str]:
    """Return the source partition of a file."""
    return {STORE: store, PATH: path}


def offset_at(
    file: StoredFile, place: RecordPlace, *, done: bool, broken: bool = False
) -> dict[str, int | bool]:
    """Return the source offset at a place in a file.

    Args:
        file: The file.
        place: The place.
        done: Whether nothing comes after it.
        broken: Whether what comes after it was given up as unreadable.
    """
    offset: dict[str, int | bool] = {RECORD: place.record}
    if place.position is not None:
        offset[POSITION] = place.position
    offset = {**offset, SIZE: file.size, MODIFIED: file.modified_millis, DONE: done}
    return {**offset, BROKEN: True} if broken else offset


def place_in(file: StoredFile, offset: Offset | None) -> RecordPlace:
    """Return where reading a file goes on: at its beginning where it was written anew since."""
    if offset is None or not _is_of(file, offset):
        return START
    position = offset.get(POSITION)
    return RecordPlace(int(offset.get(RECORD) or 0), None if position is None else int(position))


def is_done(file: StoredFile, offset: Offset | None) -> bool:
    """Return whether all records of a file, as it is now, are committed."""
    return offset is not None and bool(offset.get(DONE)) and _is_of(file, offset)


def is_broken(file: StoredFile, offset: Offset | None) -> bool:
    """Return whether the rest of a file, as it is now, was given up as unreadable."""
    return is_done(file, offset) and offset is not None and bool(offset.get(BROKEN))


def is_committed(file: StoredFile, record: int, offset: Offset | None) -> bool:
    """Return whether so many records of a file, as it is now, are committed."""
    return offset is not None and _is_of(file, offset) and int(offset.get(RECORD) or 0) >= record


def check_partition(partition: Mapping[str, Any] | None) -> None:
    """Accept what names a file.

    Raises:
        ConnectError: It does not.
    """
    if partition is None or set(partition) != {STORE, PATH}:
        raise ConnectError(f"Partition objects should contain the keys '{STORE}' and '{PATH}', and no others")
    for key, value in partition.items():
        if not isinstance(value, str):
            raise ConnectError(
                f"The value for the '{key}' key in the partition is expected to be a String value"
            )


def check_offset(offset: Offset) -> None:
    """Accept a place in a file, with or without what shows whether it is still the same file.

    Raises:
        ConnectError: It is malformed.
    """
    if RECORD not in offset:
        raise ConnectError(f"Offset objects should either be null or contain the key '{RECORD}'")
    known = {RECORD, POSITION, SIZE, MODIFIED, DONE, BROKEN}
    for key, value in offset.items():
        if key not in known:
            raise ConnectError(
                f"Offset objects should not contain the key '{key}', only {', '.join(sorted(known))}"
            )
        if key in {DONE, BROKEN}:
            if not isinstance(value, bool):
                raise ConnectError(f"The value for the '{key}' key in the offset should be true or false")
        elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ConnectError(f"The value for the '{key}' key in the offset should be a number from 0 up")


def effect_of(move: OffsetMove, store: str) -> OffsetEffect | None:
    """Return how many records of a file of a store a move of its offset repeats or skips; None if unknown."""
    if move.partition.get(STORE) != store:
        return OffsetEffect(0, 0)  # no task reads it
    before, after = (0 if offset is None else offset.get(RECORD) for offset in (move.before, move.after))
    if not isinstance(before, int) or not isinstance(after, int):
        return None
    return OffsetEffect(max(before - after, 0), max(after - before, 0))


def _is_of(file: StoredFile, offset: Offset) -> bool:
    known = (offset.get(SIZE, file.size), offset.get(MODIFIED, file.modified_millis))
    return known == (file.size, file.modified_millis)
