"""How far a source task got: the newest offset of each source partition handed to the producer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from copycat_connect.errors import DataError

Position = Mapping[str, Any]


def to_json(mapping: Position | None) -> bytes | None:
    """Write a source partition or offset as compact JSON, keys in the order given; null has no text.

    Raises:
        DataError: It is not a map of strings to primitive values.
    """
    if mapping is None:
        return None
    if not isinstance(mapping, Mapping):
        raise DataError("Offsets must be specified as a Map")
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise DataError("Offsets may only use String keys")
        if value is not None and not isinstance(value, (str, int, float, bool)):
            message = (
                "Offsets may only contain primitive types as values, "
                f"but field {key} contains {type(value).__name__}"
            )
            raise DataError(message)
    return json.dumps(dict(mapping), separators=(",", ":"), ensure_ascii=False).encode()


def from_json(text: bytes | None) -> dict[str, Any] | None:
    """Read a source offset; None when there is none or it is not a map."""
    if not text:
        return None
    value = json.loads(text)
    return value if isinstance(value, dict) else None


class SourceProgress:
    """Collects offsets until the next commit takes them."""

    def __init__(self) -> None:
        self._pending: dict[bytes, Position | None] = {}
        self._refused: dict[bytes, bytes | None] = {}
        self._partition: Position | None = None
        self._key: bytes | None = None

    def __bool__(self) -> bool:
        return bool(self._pending or self._refused)

    def advance(self, partition: Position | None, offset: Position | None) -> None:
        """Note that all up to the offset was handed over; a record without partition is not tracked."""
        if partition is None:
            return
        # Most records repeat the partition before: comparing is ten times cheaper than writing JSON.
        if self._key is None or partition != self._partition:
            self._partition, self._key = dict(partition), to_json(partition)
        if self._key is not None:
            self._pending[self._key] = offset

    def take(self) -> dict[bytes, bytes | None]:
        """Return what is new, as JSON texts, and start afresh."""
        taken = {**self._refused, **{key: to_json(offset) for key, offset in self._pending.items()}}
        self._pending, self._refused = {}, {}
        return taken

    def restore(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Put back what could not be committed, except where there is something newer."""
        self._refused = {**offsets, **self._refused}
