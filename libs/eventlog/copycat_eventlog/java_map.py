"""Java's serialised `HashMap<byte[], byte[]>`: the format of standalone Connect's offsets file.

Only what such a file holds is read, anything else refused. (Java object serialization protocol, version 5.)
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

_HEADER = b"\xac\xed\x00\x05"
_NULL, _REFERENCE, _CLASS, _OBJECT, _ARRAY = 0x70, 0x71, 0x72, 0x73, 0x75
_BLOCK, _END = 0x77, 0x78
_FIRST_HANDLE = 0x7E0000

_MAP_CLASS = (
    b"\x72\x00\x11java.util.HashMap"
    + struct.pack(">q", 362498820763181265)  # its serialVersionUID
    + b"\x03\x00\x02F\x00\nloadFactorI\x00\tthreshold\x78\x70"
)
_BYTES_CLASS = b"\x72\x00\x02[B" + struct.pack(">q", -5984413125824719648) + b"\x02\x00\x00\x78\x70"
#: Handles are numbered as objects appear: the map's class, the map, then the class of its first array.
_BYTES_CLASS_HANDLE = _FIRST_HANDLE + 2


class JavaMapError(ValueError):
    """The bytes are not a serialised map of byte arrays."""


def dump_map(entries: Mapping[bytes, bytes | None]) -> bytes:
    """Serialise a map as Java does."""
    capacity = 16
    while capacity * 3 // 4 < len(entries):
        capacity *= 2
    parts = [
        _HEADER,
        b"\x73",
        _MAP_CLASS,
        struct.pack(">fi", 0.75, capacity * 3 // 4),
        struct.pack(">BBii", _BLOCK, 8, capacity, len(entries)),
    ]
    described = False
    for array in (part for entry in entries.items() for part in entry):
        if array is None:
            parts.append(bytes([_NULL]))
            continue
        parts.append(bytes([_ARRAY]))
        parts.append(struct.pack(">BI", _REFERENCE, _BYTES_CLASS_HANDLE) if described else _BYTES_CLASS)
        parts.append(struct.pack(">i", len(array)) + array)
        described = True
    parts.append(bytes([_END]))
    return b"".join(parts)


def load_map(stream: bytes) -> dict[bytes, bytes | None]:
    """Read a map Java or `dump_map` serialised; entries with a null key are left out.

    Raises:
        JavaMapError: The bytes are anything else.
    """
    try:
        return _Reader(stream).read_map()
    except (IndexError, struct.error) as error:
        raise JavaMapError("it ends too early") from error


class _Reader:
    """A cursor over a stream, with the arrays it may refer back to."""

    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self._at = 0
        self._handle = _FIRST_HANDLE
        self._arrays: dict[int, bytes] = {}
        self._bytes_class: int | None = None

    def read_map(self) -> dict[bytes, bytes | None]:
        self._expect(_HEADER + b"\x73" + _MAP_CLASS, "it is no serialised java.util.HashMap")
        self._handle += 2
        self._unpack(">fi")
        self._expect(bytes([_BLOCK, 8]), "the map has no size")
        _, size = self._unpack(">ii")
        entries: dict[bytes, bytes | None] = {}
        for _ in range(size):
            key, value = self._array(), self._array()
            if key is not None:
                entries[key] = value
        return entries

    def _array(self) -> bytes | None:
        match self._unpack(">B")[0]:
            case 0x70:
                return None
            case 0x71:
                (handle,) = self._unpack(">I")
                return self._arrays[handle]
            case 0x75:
                return self._new_array()
            case other:
                raise JavaMapError(f"unexpected content {other:#x} at {self._at - 1}")

    def _new_array(self) -> bytes:
        if self._stream[self._at] == _REFERENCE:
            _, handle = self._unpack(">BI")
            if handle != self._bytes_class:
                raise JavaMapError("an entry is not a byte array")
        else:
            self._expect(_BYTES_CLASS, "an entry is not a byte array")
            self._bytes_class = self._next_handle()
        handle = self._next_handle()
        (length,) = self._unpack(">i")
        array = self._stream[self._at : self._at + length]
        if len(array) < length:
            raise IndexError(length)
        self._at += length
        self._arrays[handle] = array
        return array

    def _next_handle(self) -> int:
        self._handle += 1
        return self._handle - 1

    def _expect(self, wanted: bytes, otherwise: str) -> None:
        if not self._stream.startswith(wanted, self._at):
            raise JavaMapError(otherwise)
        self._at += len(wanted)

    def _unpack(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(layout, self._stream, self._at)
        self._at += struct.calcsize(layout)
        return values
