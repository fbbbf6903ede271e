"""The records in MirrorMaker's internal topics, byte by byte as Kafka's protocol types write them.

Numbers are big-endian; a text is the count of its UTF-8 bytes as int16, then these. Values of heartbeats and
checkpoints begin with a version, int16, always 0; those of offset syncs have none.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from copycat_connect.errors import DataError

_VERSION = 0
_INT16, _INT32, _INT64, _TWO_INT64 = (struct.Struct(f">{each}") for each in ("h", "i", "q", "qq"))


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life of the way from one cluster to another."""

    source: str
    """Alias of the source cluster."""
    target: str
    """Alias of the target cluster."""
    timestamp: int
    """Milliseconds since the epoch."""

    def key(self) -> bytes:
        """Return the record's key."""
        return _text(self.source) + _text(self.target)

    def value(self) -> bytes:
        """Return the record's value."""
        return _INT16.pack(_VERSION) + _INT64.pack(self.timestamp)

    @classmethod
    def read(cls, key: bytes, value: bytes) -> Heartbeat:
        """Read a record.

        Raises:
            DataError: It is malformed.
        """
        names, body = _Reader(key), _Reader(value, versioned=True)
        return cls(names.text(), names.text(), body.number(_INT64))


@dataclass(frozen=True, slots=True)
class OffsetSync:
    """Says that a record of the source is a certain record of the target."""

    topic: str
    """Topic of the source."""
    partition: int
    """Its partition."""
    upstream: int
    """Offset at the source."""
    downstream: int
    """Offset of the same record at the target."""

    def key(self) -> bytes:
        """Return the record's key."""
        return _text(self.topic) + _INT32.pack(self.partition)

    def value(self) -> bytes:
        """Return the record's value."""
        return _TWO_INT64.pack(self.upstream, self.downstream)

    @classmethod
    def read(cls, key: bytes, value: bytes) -> OffsetSync:
        """Read a record.

        Raises:
            DataError: It is malformed.
        """
        names, body = _Reader(key), _Reader(value)
        return cls(names.text(), names.number(_INT32), body.number(_INT64), body.number(_INT64))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a group of the source would go on at the target."""

    group: str
    """The group."""
    topic: str
    """Topic of the target."""
    partition: int
    """Its partition."""
    upstream: int
    """The group's offset at the source."""
    downstream: int
    """Where it would go on at the target."""
    metadata: str
    """What the group stored with its offset."""

    def key(self) -> bytes:
        """Return the record's key."""
        return _text(self.group) + _text(self.topic) + _INT32.pack(self.partition)

    def value(self) -> bytes:
        """Return the record's value."""
        return _INT16.pack(_VERSION) + _TWO_INT64.pack(self.upstream, self.downstream) + _text(self.metadata)

    @classmethod
    def read(cls, key: bytes, value: bytes) -> Checkpoint:
        """Read a record.

        Raises:
            DataError: It is malformed.
        """
        names, body = _Reader(key), _Reader(value, versioned=True)
        group, topic, partition = names.text(), names.text(), names.number(_INT32)
        return cls(group, topic, partition, body.number(_INT64), body.number(_INT64), body.text())


class _Reader:
    def __init__(self, data: bytes, *, versioned: bool = False) -> None:
        self._data, self._at = data, 0
        if versioned and (version := self.number(_INT16)) != _VERSION:
            raise DataError(f"The record has version {version}; only {_VERSION} can be read")

    def number(self, kind: struct.Struct) -> int:
        return int(kind.unpack(self._take(kind.size))[0])

    def text(self) -> str:
        try:
            return self._take(self.number(_INT16)).decode()
        except UnicodeDecodeError as error:
            raise DataError("A name in the record is not UTF-8") from error

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if size < 0 or len(taken) < size:
            raise DataError(f"The record ends after {len(self._data)} bytes, in the middle of a field")
        self._at += size
        return taken


def _text(text: str) -> bytes:
    data = text.encode()
    return _INT16.pack(len(data)) + data
