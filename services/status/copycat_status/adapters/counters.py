"""What became of the status updates, counted as the retry KIP's metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class WriteCounters:
    """Totals since the start; the names in Kafka's group `status-backing-store-metrics` are in `totals`."""

    retries: int = 0
    failures: int = 0
    successes: int = 0

    def totals(self) -> dict[str, int]:
        """Return the totals by metric name."""
        return {
            "status-update-retry-total": self.retries,
            "status-update-failure-total": self.failures,
            "status-update-success-total": self.successes,
        }
