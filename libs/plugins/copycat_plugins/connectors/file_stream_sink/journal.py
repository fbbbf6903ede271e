"""The positions stored beside the file: how long the file is, and which records are in it.

The journal has two places, written in turn, so that a write that is torn at any byte leaves the one before
it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError

PLACE_SIZE = 1 << 20
_HEADER_SIZE = 18


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """What is in the file."""

    number: int
    """Counts the entries; the highest counts."""
    connector: str
    """Whose file it is."""
    inode: int
    """Which file it is, whatever has its name meanwhile."""
    length: int
    """Bytes of the file that count: whatever comes behind them was not stored."""
    positions: Mapping[TopicPartition, int]
    """The first record of each partition that is not in these bytes."""

    def encode(self) -> bytes:
        """Return the entry as a line, with its checksum and length in front."""
        positions = [[*partition, offset] for partition, offset in self.positions.items()]
        fields = [self.number, self.connector, self.inode, self.length, positions]
        text = json.dumps(fields, separators=(",", ":")).encode()
        return b"%08x %08x " % (zlib.crc32(text), len(text)) + text + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> JournalEntry | None:
        """Read an entry; None when it is not whole."""
        try:
            checksum, size = int(line[:8], 16), int(line[9 : _HEADER_SIZE - 1], 16)
        except ValueError:
            return None
        text = line[_HEADER_SIZE : _HEADER_SIZE + size]
        if len(text) < size or zlib.crc32(text) != checksum:
            return None
        number, connector, inode, length, positions = json.loads(text)
        found = {TopicPartition(topic, partition): offset for topic, partition, offset in positions}
        return cls(number, connector, inode, length, found)


class Journal:
    """An open journal, read once and then only written."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.descriptor = descriptor
        self.name = name
        places = (os.pread(descriptor, PLACE_SIZE, place * PLACE_SIZE) for place in (0, 1))
        entries = [entry for entry in map(JournalEntry.decode, places) if entry is not None]
        self._newest = max(entries, key=lambda entry: entry.number, default=None)

    @property
    def newest(self) -> JournalEntry:
        """The newest entry that is whole.

        Raises:
            ConnectError: It is missing.
        """
        if self._newest is None:
            raise ConnectError(
                f"{self.name} is damaged: it has no positions that are whole. Delete it to go on behind what "
                "is in the file, at the positions of the connector's consumer group"
            )
        return self._newest

    def write(self, entry: JournalEntry) -> None:
        """Store an entry; what it says must be durable already.

        Raises:
            ConnectError: It is too long.
            OSError: It could not be stored.
        """
        line = entry.encode()
        if len(line) > PLACE_SIZE:
            raise ConnectError(
                f"{self.name} has no room for the positions of {len(entry.positions)} partitions"
            )
        offset = entry.number % 2 * PLACE_SIZE
        while line:
            written = os.pwrite(self.descriptor, line, offset)
            line, offset = line[written:], offset + written
        os.fsync(self.descriptor)
        self._newest = entry
