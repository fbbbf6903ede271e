"""States of an instance over time, and how the starts of all instances of a worker ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from copycat.types.v1 import types_pb2
from copycat_telemetry.metrics.definitions import Value
from copycat_telemetry.metrics.sampled import Sampled, Windows

UNASSIGNED: Final = "unassigned"
RESTARTING: Final = "restarting"
FAILED: Final = "failed"


class Startups:
    """Counts starts and how they ended."""

    def __init__(self, kind: str, windows: Windows) -> None:
        """`kind` is connector or task."""
        self._kind = kind
        self._successes, self._failures = 0, 0
        self._recent = Sampled(windows)

    def ended(self, now: float, *, well: bool) -> None:
        """Note the end of a start."""
        self._successes += well
        self._failures += not well
        self._recent.note(now, 1, float(well), 1.0, 1.0)

    def values(self, now: float) -> dict[str, Value]:
        """Return Kafka Connect's startup metrics by name."""
        count = self._recent.count(now)
        share = self._recent.total(now) / count if count else 0.0
        name = f"{self._kind}-startup"
        return {
            f"{name}-attempts-total": self._successes + self._failures,
            f"{name}-success-total": self._successes,
            f"{name}-failure-total": self._failures,
            f"{name}-success-percentage": share,
            f"{name}-failure-percentage": 1 - share if count else 0.0,
        }


class StateTimes:
    """What state an instance is in, and how long it was in each."""

    def __init__(self, clock: Callable[[], float], startups: Startups) -> None:
        """`clock` counts seconds; `startups` counts how the start of this instance ends."""
        self.state = UNASSIGNED
        self._clock, self._startups = clock, startups
        self._began = self._since = clock()
        self._spent: dict[str, float] = {}

    def enter(self, state: types_pb2.State.ValueType) -> None:
        """Note the state from now on; the time until now counts for the one before."""
        now, starting = self._clock(), self._starting
        self._spent[self.state] = self._spent.get(self.state, 0.0) + now - self._since
        # In the words of Kafka Connect's metrics.
        self.state, self._since = types_pb2.State.Name(state).removeprefix("STATE_").lower(), now
        if starting and not self._starting:
            self._startups.ended(now, well=self.state != FAILED)

    def share(self, state: str, now: float) -> float:
        """Return what share of its time the instance was in a state, 0 to 1."""
        spent = self._spent.get(state, 0.0) + (now - self._since if state == self.state else 0.0)
        return spent / (now - self._began) if now > self._began else 0.0

    @property
    def _starting(self) -> bool:
        """Whether its start has not ended: it was in no state yet that a start leads to."""
        return {self.state, *self._spent} <= {UNASSIGNED, RESTARTING}
