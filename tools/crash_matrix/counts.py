"""What became of numbers that were sent in order: which are missing, how many came again."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tally:
    """What is wrong with what arrived."""

    lost: int = 0
    """Numbers that never came although a later one did."""
    repeated: int = 0
    """Arrivals of a number that had come before."""

    def since(self, earlier: Tally) -> Tally:
        """Return what has been added; a number that came late after all makes `lost` smaller."""
        return Tally(self.lost - earlier.lost, self.repeated - earlier.repeated)

    def __add__(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(self.lost + other.lost, self.repeated + other.repeated)


@dataclass(slots=True)
class Sequence:
    """The numbers of one partition, from 1 on, as they arrive."""

    highest: int = 0
    """The highest number so far."""
    created_ms: int = 0
    """When the latest record was made that is no repetition, in milliseconds since the epoch."""
    repeated: int = 0
    """Arrivals of a number that had come before."""
    missing: set[int] = field(default_factory=set)
    """Numbers below the highest that have not come."""

    def take(self, number: int, created_ms: int) -> None:
        """Count an arrival."""
        if number > self.highest:
            self.missing.update(range(self.highest + 1, number))
            self.highest, self.created_ms = number, created_ms
        elif number in self.missing:
            self.missing.discard(number)
        else:
            self.repeated += 1

    @property
    def arrived(self) -> int:
        """How many arrivals there were, repetitions included."""
        return self.highest - len(self.missing) + self.repeated

    @property
    def tally(self) -> Tally:
        """What is wrong with them."""
        return Tally(len(self.missing), self.repeated)
