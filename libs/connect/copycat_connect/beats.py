"""When what is done again and again is done: at moments that all programs of a machine share."""

from __future__ import annotations


def until_beat(now: float, interval: float) -> float:
    """Return the seconds until the clock is a multiple of `interval` again, which is at most that.

    With the monotonic clock of the machine as `now`, timers of all its programs end together: a processor
    wakes once for all of them, and who is asked by several answers them in one go.
    """
    return interval - now % interval
