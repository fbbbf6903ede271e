"""Numbers over the last while, as Kafka's sampled statistics compute them (`SampledStat` and its heirs)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf, nan

from copycat_connect.config import LONG, LOW, at_least
from copycat_connect.config.settings import Settings, key


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of time over which rates and means are taken, as Kafka's metrics do."""

    seconds: float = 30.0
    """How long one window is open."""
    count: int = 2
    """How many are kept."""


class WindowSettings(Settings):
    """The windows as the worker properties say."""

    length_ms: int = key(
        LOW,
        name="metrics.sample.window.ms",
        type=LONG,
        default=30_000,
        check=at_least(1),
        doc="Milliseconds of one window over which rates, means and maxima of metrics are computed.",
    )
    count: int = key(
        LOW,
        name="metrics.num.samples",
        default=2,
        check=at_least(1),
        doc="How many windows of metrics are kept.",
    )

    @property
    def windows(self) -> Windows:
        """The same, in seconds."""
        return Windows(self.length_ms / 1000, self.count)


@dataclass(slots=True)
class _Sample:
    since: float
    last: float
    count: int = 0
    total: float = 0.0
    highest: float = -inf
    lowest: float = inf


class Sampled:
    """What was noted over the last windows."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._samples: deque[_Sample] = deque()

    def note(self, now: float, count: int, total: float, highest: float, lowest: float) -> None:
        """Add values noted together: how many, their sum, the highest and the lowest."""
        self._purge(now)
        if not self._samples or now - self._samples[-1].since >= self._windows.seconds:
            self._samples.append(_Sample(now, now))
        sample = self._samples[-1]
        sample.last = now
        sample.count += count
        sample.total += total
        sample.highest = max(sample.highest, highest)
        sample.lowest = min(sample.lowest, lowest)

    def count(self, now: float) -> int:
        """Return how many values there are."""
        self._purge(now)
        return sum(sample.count for sample in self._samples)

    def total(self, now: float) -> float:
        """Return the sum of the values."""
        self._purge(now)
        return sum(sample.total for sample in self._samples)

    def rate(self, now: float) -> float:
        """Return the sum of the values a second; windows that are not full yet count as if they were."""
        self._purge(now)
        if not self._samples:
            return 0.0
        window, passed = self._windows.seconds, now - self._samples[0].since
        missing = self._windows.count - 1 - int(passed / window)
        return self.total(now) / (passed + max(missing, 0) * window or window)

    def mean(self, now: float) -> float:
        """Return the mean value; NaN without any."""
        count = self.count(now)
        return self.total(now) / count if count else nan

    def highest(self, now: float) -> float:
        """Return the highest value; NaN without any."""
        self._purge(now)
        return max((sample.highest for sample in self._samples), default=nan)

    def lowest(self, now: float) -> float:
        """Return the lowest value; NaN without any."""
        self._purge(now)
        return min((sample.lowest for sample in self._samples), default=nan)

    def _purge(self, now: float) -> None:
        gone = now - self._windows.seconds * self._windows.count
        while self._samples and self._samples[0].last <= gone:
            self._samples.popleft()
