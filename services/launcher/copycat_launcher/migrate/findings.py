"""What is said about a connector or a worker, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class MigrationVerdict(IntEnum):
    """How it would run here, the best first; the worst of several counts."""

    RUNS = 0
    """As it is."""
    DIFFERS = 1
    """It runs, and something is other than there."""
    REFUSED = 2
    """All it needs is here, but its configuration is not accepted."""
    MISSING = 3
    """Something that it names is not here."""

    @property
    def word(self) -> str:
        """What people and programs read."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know, with what to do about it."""

    verdict: MigrationVerdict
    """What it alone leads to; RUNS for what is only to be known."""
    key: str
    """The key of the configuration that it is about; empty where it is about none."""
    text: str
    """What is so."""
    fix: str
    """What to do."""


def worst(verdicts: Iterable[MigrationVerdict]) -> MigrationVerdict:
    """Return the one that counts; RUNS without any."""
    return max(verdicts, default=MigrationVerdict.RUNS)
