"""How often and how long a task does things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import (
    OFFSET_FLUSH_INTERVAL,
    OFFSET_FLUSH_TIMEOUT,
    TASK_SHUTDOWN_TIMEOUT,
)

_TIMES: Final = ConfigDef(OFFSET_FLUSH_INTERVAL, OFFSET_FLUSH_TIMEOUT, TASK_SHUTDOWN_TIMEOUT)


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
    def parse(cls, worker: Config) -> Timing:
        """Read the worker's configuration; the executor has checked it at its start.

        Raises:
            ConfigError: A time is not a positive number of milliseconds.
        """
        found = _TIMES.parse(worker)
        flush_timeout = found[OFFSET_FLUSH_TIMEOUT.name] / 1000
        return cls(
            commit_interval=found[OFFSET_FLUSH_INTERVAL.name] / 1000,
            flush_timeout=flush_timeout,
            last_commit=min(flush_timeout, 0.8 * found[TASK_SHUTDOWN_TIMEOUT.name] / 1000),
        )
