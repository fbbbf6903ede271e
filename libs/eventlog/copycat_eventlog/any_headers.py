"""Records whose headers have names that are not UTF-8. Kafka takes them; aiokafka ends a reader at the first.

Its parser is compiled and reads names strictly. Here a batch that it cannot read is read once more, in
Python, as Java's clients read it: with replacement characters.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record import default_records
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.record.util import decode_varint

_LENGTH: Final = struct.Struct(">i")
_LENGTH_AT: Final = 8
_OVERHEAD: Final = 12
_MAGIC_AT: Final = 16
_WITH_HEADERS: Final = 2
"""The first format of batches that has headers."""


def read_any_headers() -> None:
    """Let aiokafka's consumers of this process read headers whatever their names are."""
    fetcher.MemoryRecords = _Records


class _Records:
    """The batches of an answer of a broker; takes the place of aiokafka's own class."""

    def __init__(self, data: bytes) -> None:
        self._batches: Any = MemoryRecords(data)
        self._data = memoryview(data)
        self.size_in_bytes = self._batches.size_in_bytes
        self.has_next = self._batches.has_next

    def next_batch(self) -> object:
        """Return the next batch, None after the last one."""
        batch = self._batches.next_batch()
        if batch is None:
            return None
        (length,) = _LENGTH.unpack_from(self._data, _LENGTH_AT)
        written, self._data = self._data[: _OVERHEAD + length], self._data[_OVERHEAD + length :]
        return _Batch(batch, written) if written[_MAGIC_AT] >= _WITH_HEADERS else batch


class _Batch:
    """A batch that is read quickly, and once more where that fails."""

    def __init__(self, quick: Any, written: memoryview) -> None:  # noqa: ANN401 - aiokafka has no types here
        self._quick = quick
        self._written = written

    def __getattr__(self, name: str) -> object:
        return getattr(self._quick, name)

    def __next__(self) -> object:
        return next(self._quick)

    def __iter__(self) -> Iterator[object]:
        read = 0
        try:
            for record in self._quick:
                yield record
                read += 1
        except (UnicodeDecodeError, CorruptRecordException):
            yield from islice(_TolerantBatch(self._written), read, None)


class _TolerantBatch(default_records._DefaultRecordBatchPy):  # type: ignore[misc]  # noqa: SLF001
    """aiokafka's own batch in Python, but for the names of headers."""

    _buffer: bytearray
    _pos: int

    def _read_msg(self, decode_varint: Any = decode_varint) -> object:  # noqa: ANN401
        """Read a record, as the format says: it begins with its length and ends with its headers."""
        buffer = self._buffer
        length, start = decode_varint(buffer, self._pos)
        _attributes, at = decode_varint(buffer, start)
        delta, at = decode_varint(buffer, at)
        offset, at = decode_varint(buffer, at)
        key, at = _bytes(buffer, at)
        value, at = _bytes(buffer, at)
        count, at = decode_varint(buffer, at)
        headers = []
        for _ in range(count):
            name, at = _bytes(buffer, at)
            content, at = _bytes(buffer, at)
            headers.append(((name or b"").decode("utf-8", "replace"), content))
        if at != start + length:
            raise CorruptRecordException(f"A record of {length} bytes ends after {at - start}")
        self._pos = at
        appended = self.timestamp_type == self.LOG_APPEND_TIME
        time = self.max_timestamp if appended else self.first_timestamp + delta
        found = default_records._DefaultRecordPy  # noqa: SLF001
        return found(self.base_offset + offset, time, self.timestamp_type, key, value, headers)


def _bytes(buffer: bytearray, at: int) -> tuple[bytes | None, int]:
    """Return bytes, or None, and where they end."""
    length, at = decode_varint(buffer, at)
    return (None, at) if length < 0 else (bytes(buffer[at : at + length]), at + length)
