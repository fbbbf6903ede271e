"""Garbage collection kept out of the hot loops of all tasks of a process.

Collections between records cost more than the records. What lives as long as the process is frozen, and
garbage is collected where a task pauses anyway, after an offset commit.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Final

#: Between two collections.
_MIN_INTERVAL_SECONDS: Final = 1.0
#: Objects that came and did not go since the last collection, below which none is due: as many as let the
#: automatic collector be. It counts them also while it is switched off.
_WORTH_COLLECTING: Final = 700


class Garbage:
    """Collects for all tasks of a host, but not more often than makes sense."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = clock()

    def tame(self) -> None:
        """Take over from the automatic collector; undone by `release`."""
        gc.collect()
        gc.freeze()
        gc.disable()

    def collect(self) -> None:
        """Collect now, unless there is little, it was done a moment ago, or another task does it."""
        if gc.get_count()[0] < _WORTH_COLLECTING or self._clock() - self._last < _MIN_INTERVAL_SECONDS:
            return
        if not self._lock.acquire(blocking=False):
            return
        try:
            gc.collect()
            self._last = self._clock()
        finally:
            self._lock.release()

    def release(self) -> None:
        """Give the work back to the automatic collector."""
        gc.unfreeze()
        gc.enable()
