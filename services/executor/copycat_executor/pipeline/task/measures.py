"""Numbers of one task between two reports: what happened, never records; and its commits among them."""

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


class CommitMeter:
    """Notes each commit of one task once its fate is known."""

    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self._began = 0.0
        self._under_way: dict[int, float] = {}
        self._newest = 0

    def begin(self) -> None:
        """A commit begins: what is to be committed is being made durable."""
        self._began = self._measures.clock()

    def nothing_new(self) -> None:
        """There was nothing to commit."""
        self._succeeded(self._began)

    def transaction(self, records: int) -> None:
        """A transaction of so many records was committed, its offsets with them (KIP-618)."""
        self._measures.note("transaction-size", records)
        self._measures.note("offset-commit-completion")
        self._succeeded(self._began)

    def failed(self) -> None:
        """It failed before anything was acknowledged."""
        self._measures.note("offset-commit-failure")

    def acknowledged(self, sequence: int) -> None:
        """Its offsets are on their way."""
        self._under_way[sequence] = self._began
        self._measures.note_state("offset-commit-seq-no", sequence)

    def settled(self, sequence: int, error: str) -> None:
        """The offset service has answered."""
        began = self._under_way.pop(sequence, None)
        if began is None:
            return
        if sequence < self._newest:
            self._measures.note("offset-commit-skip")
        elif error:
            self.failed()
        else:
            self._newest = sequence
            self._measures.note("offset-commit-completion")
            self._succeeded(began)

    def _succeeded(self, began: float) -> None:
        self._measures.note("offset-commit-time-ms", (self._measures.clock() - began) * 1000)
