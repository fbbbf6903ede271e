"""Pace: how many records are due now, for sources that make their records up."""

from __future__ import annotations

import time
from collections.abc import Callable

_LONGEST_WAIT_SECONDS = 1.0


class RecordPace:
    """Lets records through evenly.

    What was missed while a task was held up is made good, but no more of it than a second's worth: a task
    that was paused for an hour does not flood the topic.
    """

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Start now.

        Args:
            per_second: Records per second; below 0 as many as are taken, 0 none at all.
            clock: Tells seconds.
        """
        self._per_second = per_second
        self._clock = clock
        self._start = clock()
        self._given = 0

    def take(self, most: int, wait: Callable[[float], object]) -> int:
        """Return how many records are due, and count them as given.

        Args:
            most: The answer is never higher.
            wait: Called with the seconds until the next record, a second at most, where none is due.

        Returns:
            0 where none is due, also after the wait.
        """
        if self._per_second < 0:
            return most
        if not (due := min(most, self._due())):
            wait(self._seconds_to_next())
            due = min(most, self._due())
        self._given += due
        return due

    def _due(self) -> int:
        if not self._per_second:
            return 0
        elapsed = self._clock() - self._start
        # A millionth of a record is what sums of seconds may be off.
        due = int(elapsed * self._per_second + 1e-6) + 1 - self._given
        if due > self._per_second + 1:
            self._given += due - self._per_second - 1
            due = self._per_second + 1
        return max(due, 0)

    def _seconds_to_next(self) -> float:
        if not self._per_second:
            return _LONGEST_WAIT_SECONDS
        until = self._start + self._given / self._per_second - self._clock()
        return min(max(until, 0.0), _LONGEST_WAIT_SECONDS)
