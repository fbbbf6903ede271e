"""How often and how long a task does things, and when its next offset commit is due."""

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


#: The first data after a rest is committed this soon, so that offsets and active topics show quickly.
_COMMIT_DELAY_AFTER_REST_SECONDS: Final = 0.5


class CommitSchedule:
    """When a commit is due: every interval, but soon after the first data following a rest.

    Times are seconds of one clock.
    """

    def __init__(self, interval: float, now: float) -> None:
        self._interval = interval
        self._last = now
        self._first = True
        self._oldest: float | None = None
        self._requested = False

    def note_data(self, now: float) -> None:
        """Note that there is something to commit."""
        if self._oldest is None:
            self._oldest = now

    def request(self) -> None:
        """Make a commit due at once."""
        self._requested = True

    def done(self, now: float) -> None:
        """Note that a commit was made, or tried."""
        self._last, self._oldest, self._requested, self._first = now, None, False, False

    def due_in(self, now: float) -> float:
        """Return the seconds until the next commit; 0 when it is due."""
        if self._requested:
            return 0.0
        due = self._last + self._interval
        if self._oldest is not None:
            eager = self._oldest + _COMMIT_DELAY_AFTER_REST_SECONDS
            due = eager if self._first else max(due, eager)
        return max(0.0, due - now)
