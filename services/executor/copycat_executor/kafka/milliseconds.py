"""How long librdkafka waits: whole milliseconds, and what is left of one it drops."""

from __future__ import annotations

import math


def at_least(seconds: float) -> float:
    """Return a time-out for librdkafka that is no shorter than `seconds`, and less than a millisecond longer.

    Whoever waits until something is due would otherwise come back too early, and then ask again and again
    without any wait until it is.
    """
    # Half a millisecond more, so that the product with 1000 is cut off to this very number.
    return (math.ceil(seconds * 1000) + 0.5) / 1000
