"""Starts of connectors, or of tasks, on this worker."""

from __future__ import annotations

from copycat_telemetry.metrics.registry import Value
from copycat_telemetry.metrics.sampled import Sampled, Windows


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
