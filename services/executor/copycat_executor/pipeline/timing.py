"""How often and how long a task does things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """The worker's times, in seconds."""

    commit_interval: float = 5.0
    """`offset.flush.interval.ms`."""
    flush_timeout: float = 5.0
    """`offset.flush.timeout.ms`."""

    @classmethod
    def parse(cls, worker: Mapping[str, str | None]) -> Timing:
        """Read the worker's configuration."""
        return cls(
            commit_interval=int(worker.get("offset.flush.interval.ms") or 5000) / 1000,
            flush_timeout=int(worker.get("offset.flush.timeout.ms") or 5000) / 1000,
        )
