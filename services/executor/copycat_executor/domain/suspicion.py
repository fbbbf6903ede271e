"""Who of several may have ended the process that they shared: pure, time is an argument.

Each death names those whose code may have been its cause. One culprit is assumed to explain as many deaths as
it can: those that a later death clears of an earlier one are suspected no longer. So whoever is kept apart
from the others, and goes on while these die again, is innocent; and whoever dies alone clears all others.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

#: A death is forgotten after this time.
MEMORY_SECONDS: Final = 3600.0

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Death(Generic[K]):
    """A process ended, and it is not known for whose sake."""

    when: float
    """Seconds on the caller's clock."""
    suspects: frozenset[K]
    """Never empty."""


@dataclass(frozen=True, slots=True)
class Suspicions(Generic[K]):
    """The deaths so far, each with those who are still suspected of it."""

    deaths: tuple[Death[K], ...] = ()

    def count(self, who: K) -> int:
        """Return of how many deaths somebody is suspected."""
        return sum(who in death.suspects for death in self.deaths)

    def certain(self, who: K) -> bool:
        """Return whether nobody else can have caused one of the deaths."""
        return any(death.suspects == {who} for death in self.deaths)

    def foremost(self, who: K) -> bool:
        """Return whether nobody is suspected of more deaths."""
        everybody = {each for death in self.deaths for each in death.suspects}
        return self.count(who) >= max((self.count(each) for each in everybody), default=0)

    def after(self, suspects: Collection[K], now: float) -> Suspicions[K]:
        """Add a death; who had no part in it is cleared of those that one of its suspects explains, too."""
        if not suspects:
            return self
        latest, recent = frozenset(suspects), self.recent(now).deaths
        narrowed = (Death(each.when, each.suspects & latest or each.suspects) for each in recent)
        return Suspicions((*narrowed, Death(now, latest)))

    def recent(self, now: float) -> Suspicions[K]:
        """Forget the deaths that are too long ago, which nothing else does while nobody dies."""
        return Suspicions(tuple(each for each in self.deaths if now - each.when < MEMORY_SECONDS))

    def without(self, who: K) -> Suspicions[K]:
        """Suspect somebody no longer."""
        left = ((each.when, each.suspects - {who}) for each in self.deaths)
        return Suspicions(tuple(Death(when, suspects) for when, suspects in left if suspects))


def parts(suspects: Iterable[K], suspicions: Suspicions[K], count: int) -> list[Sequence[K]]:
    """Divide suspects into at most `count` parts, so that the next death says more.

    Those who are suspected most stand in different parts, as far as that goes.
    """
    ranked = sorted(suspects, key=lambda each: (-suspicions.count(each), str(each)))
    return [ranked[first::count] for first in range(min(count, len(ranked)))]
