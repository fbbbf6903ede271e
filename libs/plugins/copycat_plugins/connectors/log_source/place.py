"""A place in a log: which of its files, and how many bytes of it have been read.

A file is recognised after it was renamed, copied or compressed: by its inode where that is still the same,
and always by its first bytes and by those before the position.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from copycat_connect.errors import ConnectError

from copycat_plugins.connectors.log_source.contents import Content

FILENAME: Final = "filename"
"""The key of a source partition."""
POSITION: Final = "position"
"""The key of a source offset that is always there."""
HEAD_BYTES: Final = 1024
"""A file is known by so many of its first bytes, or as many as there were."""
TAIL_BYTES: Final = 64
"""And by so many before the position."""
_NUMBERS = (POSITION, "inode", "modified", "head.bytes")
_TEXTS = ("head", "tail")


@dataclass(frozen=True, slots=True)
class LinePlace:
    """As a source offset holds it; all but the position may be missing."""

    position: int = 0
    """Bytes before the next record, those of the text where the file is compressed."""
    inode: int | None = None
    """The number of the file in its file system."""
    modified: int | None = None
    """When the file had been changed last, in ms since 1970."""
    head_bytes: int = 0
    """How many first bytes the file is known by."""
    head: str = ""
    """Their hash."""
    tail: str = ""
    """The hash of the bytes before the position, 64 at the most; may be missing."""

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> LinePlace:
        """Read a source offset.

        Raises:
            ConnectError: It is not one of this connector's.
        """
        if POSITION not in offset:
            raise ConnectError(f"Offset objects should either be null or contain the key '{POSITION}'")
        for key, value in offset.items():
            if key not in (*_NUMBERS, *_TEXTS):
                raise ConnectError(
                    f"An offset has no key '{key}': '{POSITION}' is enough, the number of bytes to skip"
                )
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            if not (whole if key in _NUMBERS else isinstance(value, str)):
                kind = "a Long value from 0 up" if key in _NUMBERS else "a String value"
                raise ConnectError(f"The value for the '{key}' key in the offset is expected to be {kind}")
        return cls(
            offset[POSITION],
            offset.get("inode"),
            offset.get("modified"),
            offset.get("head.bytes", 0),
            offset.get("head", ""),
            offset.get("tail", ""),
        )

    def offset(self) -> dict[str, Any]:
        """Return the source offset."""
        found: dict[str, Any] = {POSITION: self.position, "inode": self.inode, "modified": self.modified}
        if self.head_bytes:
            found |= {"head.bytes": self.head_bytes, "head": self.head}
        if self.tail:
            found["tail"] = self.tail
        return found

    def known_by(self, head: bytes) -> LinePlace:
        """Return the place in a file that has these first bytes."""
        return replace(self, head_bytes=len(head), head=digest(head))

    def moved(self, size: int, file: os.stat_result, tail: bytes) -> LinePlace:
        """Return the place so many bytes further on, behind `tail`, in a file as it is now."""
        return replace(
            self,
            position=self.position + size,
            inode=file.st_ino,
            modified=file.st_mtime_ns // 1_000_000,
            tail=digest(tail),
        )

    @property
    def names_file(self) -> bool:
        """True when it says which file it is about."""
        return self.inode is not None or self.head_bytes > 0

    def begins(self, content: Content) -> bool:
        """Tell whether a file begins as the one this place is in."""
        return not self.head_bytes or digest(content.read_at(0, self.head_bytes)) == self.head

    def fits(self, content: Content, inode: int) -> bool:
        """Tell whether an open file is the one this place is in.

        Raises:
            OSError: It cannot be read.
            ConnectError: It is an archive that cannot be read.
        """
        if not self.head_bytes:
            return inode == self.inode and (not self.position or bool(content.read_at(self.position - 1, 1)))
        if not self.begins(content):
            return False
        start = max(self.position - TAIL_BYTES, 0)
        before = content.read_at(start, self.position - start)
        return len(before) == self.position - start and self.tail in ("", digest(before))


def digest(text: bytes) -> str:
    """Return what bytes are recognised by."""
    return blake2b(text, digest_size=8).hexdigest()


def check_partition(partition: Mapping[str, Any] | None) -> str:
    """Return the name of the log in a source partition.

    Raises:
        ConnectError: It is not one of this connector's.
    """
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    name = partition.get(FILENAME)
    if not isinstance(name, str) or len(partition) > 1:
        raise ConnectError(
            f"Partition objects should contain the key '{FILENAME}' alone, with the path of a log"
        )
    return name
