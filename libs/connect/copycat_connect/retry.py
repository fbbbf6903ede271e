"""Retrying as a value: how long to wait before each further try, and when to give up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off between tries; the caller owns the clock and the randomness."""

    first: float
    """Seconds before the second try."""
    factor: float = 2.0
    """Growth from one wait to the next."""
    ceiling: float = 60.0
    """The longest wait, seconds."""
    give_up_after: float | None = None
    """Seconds of waiting after which no further try is made; None never gives up."""
    jitter: float = 0.0
    """Share of a wait that may be taken off at random, 0 to 1."""

    def waits(self, random: float = 0.0) -> Iterator[float]:
        """Yield the waits in order, shortened by `random` (0 to 1) of the jitter, until it gives up."""
        wait, waited = self.first, 0.0
        while self.give_up_after is None or waited < self.give_up_after:
            actual = min(wait, self.ceiling) * (1 - self.jitter * random)
            if self.give_up_after is not None:
                actual = min(actual, self.give_up_after - waited)
            yield actual
            waited += actual
            wait = min(wait * self.factor, self.ceiling)
