"""Samples of what was committed, for questions about a time that compaction has forgotten."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final

from copycat_eventlog.past.keeper import ChangesKeeper

from copycat_offset.adapters.telling import PartitionText, commit

#: Partitions between two samples; further ones are left out.
MAX_PARTITIONS: Final = 10_000


class CommitSamples:
    """Keeps the newest offset of each partition that moved, once in each interval, with its own time."""

    def __init__(
        self, keeper: ChangesKeeper, seconds: float, clock: Callable[[], int] = time.time_ns
    ) -> None:
        """`clock` gives nanoseconds since the epoch."""
        self._keeper = keeper
        self._seconds = seconds
        self._clock = clock
        self._newest: dict[tuple[str, str], tuple[str | None, int]] = {}

    def note(self, connector: str, offsets: Iterable[PartitionText]) -> None:
        """Note what was committed: partitions and offsets, as JSON texts; None where one was forgotten."""
        now = self._clock() // 1_000_000
        for partition, offset in offsets:
            if len(self._newest) < MAX_PARTITIONS or (connector, partition) in self._newest:
                self._newest[connector, partition] = (offset, now)

    def keep(self) -> None:
        """Keep what has moved since the last time."""
        moved, self._newest = self._newest, {}
        for (connector, partition), (offset, time_ms) in moved.items():
            self._keeper.append(commit(connector, partition, offset, time_ms))

    async def run(self) -> None:
        """Keep samples until cancelled; then the last ones."""
        try:
            while True:
                await asyncio.sleep(self._seconds)
                self.keep()
        finally:
            self.keep()
