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
    last_commit: float = 4.0
    """For the last flush and commit of a drain: the rest of its time is for the task's own stop."""

    @classmethod
    def parse(cls, worker: Mapping[str, str | None]) -> Timing:
        """Read the worker's configuration."""
        flush_timeout = _seconds(worker, "offset.flush.timeout.ms")
        return cls(
            commit_interval=_seconds(worker, "offset.flush.interval.ms"),
            flush_timeout=flush_timeout,
            last_commit=min(flush_timeout, 0.8 * _seconds(worker, "task.shutdown.graceful.timeout.ms")),
        )


def _seconds(worker: Mapping[str, str | None], key: str) -> float:
    return int(worker.get(key) or 5000) / 1000
