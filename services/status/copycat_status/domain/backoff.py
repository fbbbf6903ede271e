"""How often and how soon a status is written again when the log is away."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing waits between a bounded number of retries; the caller owns the clock and the randomness."""

    max_retries: int = 5
    """Attempts after the first; 0 is none."""
    initial: float = 0.3
    """Seconds before the first retry."""
    ceiling: float = 10.0
    """The longest wait in seconds, before jitter."""
    multiplier: float = 2.0
    """Growth from one wait to the next."""
    jitter: float = 0.25
    """Share of a wait that may be added at random, so that instances do not return all at once."""

    def wait(self, retries: int, random: float) -> float:
        """Return the seconds to wait after so many retries; `random` is from 0 to 1."""
        try:
            grown = self.initial * self.multiplier**retries
        except OverflowError:
            grown = self.ceiling if self.initial else 0.0
        capped = min(grown, self.ceiling)
        return capped + capped * self.jitter * random
