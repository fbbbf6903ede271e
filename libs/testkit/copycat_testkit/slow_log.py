"""A log whose reader lags behind what others write, as that of a process that was frozen."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_eventlog.log import Entry, Revision
from copycat_eventlog.memory import MemoryLog, MemoryTopic


class SlowLog(MemoryLog):
    """Folds at once like any log in memory, until it is made to lag."""

    def __init__(self, topic: MemoryTopic) -> None:
        """Lag behind nothing yet."""
        super().__init__(topic)
        self._lags = False
        self._waiting: list[tuple[Sequence[Entry], Revision]] = []

    def lag(self) -> None:
        """Fold nothing of what is written from now on."""
        self._lags = True

    def catch_up(self) -> None:
        """Fold what was written meanwhile, and all that is written later."""
        self._lags = False
        waiting, self._waiting = self._waiting, []
        for entries, end in waiting:
            self.feed(entries, end)

    def feed(self, entries: Sequence[Entry], end: Revision) -> None:
        """Read what was written, or keep it for later."""
        if self._lags:
            self._waiting.append((entries, end))
        else:
            super().feed(entries, end)
