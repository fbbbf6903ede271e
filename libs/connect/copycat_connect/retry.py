"""Retrying as a value: how long to wait before each further try, and when to give up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off between tries; the caller owns the clock and the randomness."""

    first: float
    """Seconds before the second try; 0 never waits."""
    factor: float = 2.0
    """Growth from one wait to the next, 1 or more."""
    ceiling: float = 60.0
    """The longest wait in seconds, before jitter."""
    give_up_after: float | None = None
    """Seconds of waiting after which no further try is made; None sets no such limit."""
    jitter: float = 0.0
    """Share of a wait that may be added at random, so that instances do not all come back at once."""
    max_retries: int | None = None
    """Tries after the first; 0 for a single try, None sets no such limit."""

    def wait(self, retries: int, random: float = 0.0) -> float:
        """Return the seconds to wait after so many retries, from 0 on; `random` is from 0 to 1."""
        try:
            grown = self.first * self.factor**retries
        except OverflowError:
            grown = self.ceiling if self.first else 0.0
        return min(grown, self.ceiling) * (1 + self.jitter * random)

    def waits(self, random: float = 0.0) -> Iterator[float]:
        """Yield the waits in order until it gives up; `random`, from 0 to 1, is the same for all of them."""
        waited = 0.0
        for retries in count() if self.max_retries is None else range(self.max_retries):
            wait = self.wait(retries, random)
            if self.give_up_after is not None:
                if waited >= self.give_up_after:
                    return
                wait = min(wait, self.give_up_after - waited)
            yield wait
            waited += wait


class TryCount:
    """Counts the tries in a row that failed."""

    def __init__(self, most: int | None) -> None:
        """Allow so many tries in a row; None allows any number."""
        self.most = most
        self.failed = 0

    def fail(self) -> bool:
        """Count one more that failed; returns whether another try is allowed."""
        self.failed += 1
        return self.most is None or self.failed < self.most

    def succeed(self) -> None:
        """Begin to count anew."""
        self.failed = 0
