"""When records of a partition arrived, and when none did.

Repetitions count too: a task that goes on from its last commit works, though what it sends had come before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

#: Shorter ones are the resolution of the looks: the reader hands records over ten times a second.
MIN_GAP_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nothing came; moments are those of `time.monotonic`."""

    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long it was."""
        return self.ended - self.began


@dataclass(slots=True)
class Pulse:
    """One partition of a connector."""

    last: float = field(default_factory=time.monotonic)
    """When a record arrived last."""
    _arrived: int = 0
    _gaps: list[Gap] = field(default_factory=list)

    def look(self, arrived: int, now: float) -> None:
        """Note how many records have arrived."""
        if arrived <= self._arrived:
            return
        if now - self.last >= MIN_GAP_SECONDS:
            self._gaps.append(Gap(self.last, now))
        self._arrived, self.last = arrived, now

    def gaps_since(self, moment: float, now: float) -> list[Gap]:
        """Return the gaps that ended after a moment, and the one that lasts; shortened to begin there."""
        gaps = [*self._gaps, Gap(self.last, now)]
        return [Gap(max(gap.began, moment), gap.ended) for gap in gaps if gap.ended > moment]
