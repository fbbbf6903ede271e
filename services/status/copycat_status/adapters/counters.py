"""What became of the status updates, counted as the retry KIP's metrics."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_telemetry.metrics.registry import Reading
from copycat_telemetry.metrics.worker_groups import STATUS_STORE


@dataclass(slots=True)
class WriteCounters:
    """Totals since the start, reported as the group `status-backing-store-metrics`."""

    retries: int = 0
    failures: int = 0
    successes: int = 0

    def reading(self) -> Reading:
        """Return the totals."""
        totals = {
            "status-update-retry-total": self.retries,
            "status-update-failure-total": self.failures,
            "status-update-success-total": self.successes,
        }
        return Reading(STATUS_STORE, {}, totals)
