"""How often assignments change, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from copycat_telemetry.metrics.definitions import Reading, Value
from copycat_telemetry.metrics.groups import REBALANCE
from copycat_telemetry.metrics.sampled import Sampled, Windows


class Rebalances:
    """Counts changes of assignments; one lasts from a plan that changes any to the next that does not."""

    def __init__(self, windows: Windows, clock: Callable[[], float]) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._times = Sampled(windows)
        self._completed = 0
        self._began: float | None = None
        self._ended = -inf
        self._epoch = 0

    def planned(self, generation: int, *, changed: bool) -> None:
        """Count a plan that was carried out; `generation` is the newest that was ever given out."""
        now, self._epoch = self._clock(), generation
        if changed:
            self._began = now if self._began is None else self._began
        elif self._began is not None:
            took = (now - self._began) * 1000
            self._times.note(now, 1, took, took, took)
            self._completed += 1
            self._began, self._ended = None, now

    def stood_down(self) -> None:
        """Another instance plans from now on: a change under way is that one's to complete."""
        self._began = None

    def reading(self, leader: str) -> Reading:
        """Return the metrics; `leader` is who plans, empty where that is another instance."""
        now = self._clock()
        values: dict[str, Value] = {
            "connect-protocol": "SCHEDULER",
            "epoch": self._epoch,
            "completed-rebalances-total": self._completed,
            "rebalancing": float(self._began is not None),
            "rebalance-max-time-ms": self._times.highest(now),
            "rebalance-avg-time-ms": self._times.mean(now),
            "time-since-last-rebalance-ms": (now - self._ended) * 1000,
        }
        return Reading(REBALANCE, {}, {**values, **({"leader-name": leader} if leader else {})})
