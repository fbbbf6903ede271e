"""Source offsets on their way from the records to the offset service."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from copycat_connect.errors import DataError

from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.task_link import TaskLink

_log = logging.getLogger(__name__)

Position = Mapping[str, Any]


def partition_key(partition: Position | None) -> bytes:
    """Write a source partition as compact JSON.

    Raises:
        DataError: It is null, or not a map of strings to primitive values.
    """
    key = to_json(partition)
    if key is None:
        raise DataError("A source partition must not be null")
    return key


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
            raise DataError(
                "Offsets may only contain primitive types as values, "
                f"but field {key} contains {type(value).__name__}"
            )
    return json.dumps(dict(mapping), separators=(",", ":"), ensure_ascii=False).encode()


def from_json(text: bytes | None) -> dict[str, Any] | None:
    """Read a source offset; None where it is missing or not a map."""
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


class UntrackedProgress(SourceProgress):
    """Progress that is not kept: the offsets were committed before the records were sent."""

    def advance(self, partition: object, offset: object) -> None:
        """Ignore an offset."""


class ExpectedOffsets:
    """The committed offsets on which a task's next commit rests, by source partition.

    A source partition moves to another task while the one that had it still drains. Both would deliver the
    batch after the same offset; the one whose commit finds another offset than it knows does not.
    """

    def __init__(self) -> None:
        """Start without knowledge: what the task never asked for may be anything."""
        self._known: dict[bytes, bytes | None] = {}

    def note_read(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Note the committed offsets that the task has read; None where nothing was committed.

        Reading them again changes nothing: the task continues from the first answer.
        """
        for partition, offset in offsets.items():
            self._known.setdefault(partition, offset)

    def note_committed(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Note what the task itself has committed."""
        self._known.update(offsets)

    def expected_for(self, offsets: Mapping[bytes, bytes | None]) -> dict[bytes, bytes | None]:
        """Return what must be committed until now of the partitions of a commit."""
        return {partition: self._known[partition] for partition in offsets if partition in self._known}


class SourceCommits:
    """Acknowledges progress that is durable, and remembers what has no answer yet."""

    def __init__(
        self, progress: SourceProgress, link: TaskLink, expected: ExpectedOffsets | None = None
    ) -> None:
        """With `expected` a commit is refused when another task has committed since."""
        self._progress = progress
        self._expected = expected
        self._link = link
        self._sequence = 0
        self._unsettled: dict[int, dict[bytes, bytes | None]] = {}

    def advance(self, partition: Position | None, offset: Position | None) -> None:
        """Note an offset that may be committed before its records are sent (at most once)."""
        self._progress.advance(partition, offset)

    @property
    def pending(self) -> bool:
        """True when there is something to acknowledge."""
        return bool(self._progress)

    @property
    def unsettled(self) -> bool:
        """True while an acknowledgement has no answer."""
        return bool(self._unsettled)

    def take(self) -> dict[bytes, bytes | None]:
        """Return what is new, to be committed in another way than by an acknowledgement."""
        return self._progress.take()

    def note_read(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Note committed offsets that the task has read."""
        if self._expected is not None:
            self._expected.note_read(offsets)

    def acknowledge(self) -> int:
        """Report what is new; the caller made sure that it is durable (I1). Returns the report's number."""
        offsets = self._progress.take()
        self._sequence += 1
        self._unsettled[self._sequence] = offsets
        expected = None if self._expected is None else self._expected.expected_for(offsets)
        self._link.acknowledge_source(self._sequence, offsets, expected)
        return self._sequence

    def settle(self, settlement: Settlement) -> bool:
        """Note an answer; True when the offsets are committed. Refused ones are acknowledged again."""
        offsets = self._unsettled.pop(settlement.sequence, None)
        if offsets is None:
            return False
        if not settlement.error:
            if self._expected is not None:
                self._expected.note_committed(offsets)
            return True
        _log.warning("Offsets were not committed and are tried again: %s", settlement.error)
        newer = [later for sequence, later in self._unsettled.items() if sequence > settlement.sequence]
        superseded = {partition for later in newer for partition in later}
        self._progress.restore({key: offset for key, offset in offsets.items() if key not in superseded})
        return False
