"""Deaths of shared processes: who may have caused them, and how often a task starts again; pure.

Each death names those whose code may have been its cause. One culprit is assumed to explain as many deaths as
it can: those that a later death clears of an earlier one are suspected no longer. So whoever is kept apart
from the others, and goes on while these die again, is innocent; and whoever dies alone clears all others.

A dead host is infrastructure (killed, out of memory), not author code raising; but a task that kills its host
each time must not do so for ever. Only hosts count in which it was alone: of several tasks any may be the
cause. Hosts that are killed together are noticed one after another, so a task may be sent into several that
are dead already: these deaths are not its doing, and only bounded.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

#: A death is forgotten after this time.
MEMORY_SECONDS: Final = 3600.0

K = TypeVar("K", bound=Hashable)
#: Hosts in a row that may die under a task that is alone in them before it is called failed.
MAX_QUICK_REPEATS = 5
#: Hosts in a row that may die before they took the task: more than an executor has at once.
MAX_LOST_ORDERS = 50
#: A task that ran this long before its host died is counted anew.
CALM_AFTER_SECONDS = 60.0


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


@dataclass(frozen=True, slots=True)
class Deaths:
    """Hosts that died under a task in a row."""

    count: int
    """Those that had taken the task, and no other."""
    lost_orders: int
    """Those that had not taken it."""
    last: float
    """When the last one died, seconds on the caller's clock."""

    @property
    def hopeless(self) -> bool:
        """True when the task is not to be started again."""
        return self.count > MAX_QUICK_REPEATS or self.lost_orders > MAX_LOST_ORDERS


def after_death(before: Deaths | None, now: float, *, taken: bool) -> Deaths:
    """Count one more death; `taken` when the host had taken the task, which was alone in it."""
    if before is None or now - before.last >= CALM_AFTER_SECONDS:
        before = Deaths(0, 0, now)
    if taken:
        return Deaths(before.count + 1, 0, now)
    return replace(before, lost_orders=before.lost_orders + 1, last=now)
