"""What must still be committed when a task commits before it delivers (at most once)."""

from __future__ import annotations

from collections.abc import Mapping


class ExpectedOffsets:
    """The committed offsets on which a task's next commit rests, by source partition.

    A source partition moves to another task while the one that had it still drains. Both would deliver the
    batch after the same offset; the one whose commit finds another offset than it knows does not.
    """

    def __init__(self) -> None:
        """Nothing is known: what the task never asked for may be anything."""
        self._known: dict[bytes, bytes | None] = {}

    def told(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Take note of where the task was told to begin; None where nothing was committed.

        What it asks for again later changes nothing: where it stands rests on the first answer.
        """
        for partition, offset in offsets.items():
            self._known.setdefault(partition, offset)

    def committed(self, offsets: Mapping[bytes, bytes | None]) -> None:
        """Take note of what the task itself has committed."""
        self._known.update(offsets)

    def of(self, offsets: Mapping[bytes, bytes | None]) -> dict[bytes, bytes | None]:
        """Return what must be committed until now of the partitions of a commit."""
        return {partition: self._known[partition] for partition in offsets if partition in self._known}
