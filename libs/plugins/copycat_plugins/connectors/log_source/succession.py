"""Which file of a log comes next, and whether a rotation came between two looks."""

from __future__ import annotations

from collections.abc import Iterable

from copycat_plugins.connectors.log_source.family import LogFile
from copycat_plugins.connectors.log_source.place import Place


def identities(files: Iterable[LogFile]) -> set[tuple[str, int]]:
    """Return paths and inodes; they are others after each rotation, and after growth the same."""
    return {(file.path, file.inode) for file in files}


def first_to_begin(files: list[LogFile]) -> LogFile | None:
    """Return the first file; none while it must be waited for."""
    return files[0] if files and files[0].can_begin else None


def newer_than(place: Place, files: Iterable[LogFile]) -> list[LogFile]:
    """Return the files that came after the one a place is in, which is among them no more."""
    since = (place.modified or 0) * 1_000_000
    return [
        file for file in files if file.active or (file.modified_ns >= since and file.inode != place.inode)
    ]
