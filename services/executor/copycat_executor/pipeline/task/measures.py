"""Numbers of one task between two reports: what happened, never records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf


@dataclass(slots=True)
class Measure:
    """Values noted under one name."""

    count: int = 0
    """How many."""
    total: float = 0.0
    """Their sum."""
    highest: float = -inf
    """The highest."""
    lowest: float = inf
    """The lowest."""
    last: float = 0.0
    """The newest."""


class Measures:
    """Collects values until the task's thread reports them; a sink may note some in threads of its own."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._noted: dict[str, Measure] = {}
        self._states: dict[str, float] = {}
        self._reported_at = clock()

    def note(self, name: str, value: float = 1.0) -> None:
        """Note a value, or that something happened once."""
        with self._lock:
            measure = self._noted.get(name)
            if measure is None:
                measure = self._noted[name] = Measure()
            measure.count += 1
            measure.total += value
            measure.last = value
            measure.highest = max(measure.highest, value)
            measure.lowest = min(measure.lowest, value)

    def note_many(self, name: str, count: int, total: float, *, highest: float, lowest: float) -> None:
        """Note several values of which only the number, the sum, the highest and the lowest are known."""
        with self._lock:
            measure = self._noted.setdefault(name, Measure())
            measure.count += count
            measure.total += total
            measure.highest = max(measure.highest, highest)
            measure.lowest = min(measure.lowest, lowest)

    def note_state(self, name: str, value: float) -> None:
        """Note a value that holds until another is noted; nothing is reported while it stays the same."""
        if self._states.get(name) != value:
            self._states[name] = value
            self.note(name, value)

    def due(self, every: float) -> bool:
        """Whether the last report is so many seconds old."""
        return self.clock() - self._reported_at >= every

    def take(self) -> Mapping[str, Measure]:
        """Return what was noted, by name, and start afresh."""
        with self._lock:
            taken, self._noted = self._noted, {}
        self._reported_at = self.clock()
        return taken
