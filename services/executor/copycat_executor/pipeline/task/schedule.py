"""When the next offset commit is due."""

from __future__ import annotations

from typing import Final

#: The first data after a rest is committed this soon, so that offsets and active topics show quickly.
_COMMIT_DELAY_AFTER_REST_SECONDS: Final = 0.5


class CommitSchedule:
    """Every interval, but soon after the first data following a rest. Times are seconds of one clock."""

    def __init__(self, interval: float, now: float) -> None:
        self._interval = interval
        self._last = now
        self._first = True
        self._oldest: float | None = None
        self._requested = False

    def note_data(self, now: float) -> None:
        """Say that there is something to commit."""
        if self._oldest is None:
            self._oldest = now

    def request(self) -> None:
        """Make a commit due at once."""
        self._requested = True

    def done(self, now: float) -> None:
        """Say that a commit was made, or tried."""
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
