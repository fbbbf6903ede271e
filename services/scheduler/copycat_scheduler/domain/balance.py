"""Even loads: who has too much, and who can take more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", int, str)


class Loads(Generic[K]):
    """How many of `total` things each holder has, and how many it may have so that no two differ by two.

    Every holder may have the floor of the average, and as many as there are left over one more.
    """

    def __init__(self, loads: Mapping[K, int], total: int) -> None:
        """`loads` are the present ones, at least one; `total` is how many things there are to share."""
        self._loads: dict[K, int] = dict(loads)
        self._floor, self._left_over = divmod(total, len(self._loads))
        self._above = self._count_above()

    def __getitem__(self, holder: K) -> int:
        """Return a holder's load."""
        return self._loads[holder]

    def __iter__(self) -> Iterator[K]:
        """Yield the holders."""
        return iter(self._loads)

    @property
    def floor(self) -> int:
        """What everybody may have."""
        return self._floor

    @property
    def even(self) -> bool:
        """Whether nobody has more than it may have."""
        return self._above <= self._left_over and max(self._loads.values()) <= self._floor + 1

    def trim(self, came: Mapping[K, int] | None = None) -> dict[K, int]:
        """Cut every load to what its holder may have; return the limits of those that had more.

        Holders above the floor get what is left over, which moves the fewest: those first whose one thing
        above it came first, where `came` says when; else the fullest.
        """
        limits: dict[K, int] = {}
        spare = self._left_over
        above = [holder for holder, load in self._loads.items() if load > self._floor]
        turn = came or {}
        for holder in sorted(above, key=lambda each: (turn.get(each, 0), -self._loads[each], each)):
            load = self._loads[holder]
            limit = self._floor
            if spare > 0:
                limit, spare = limit + 1, spare - 1
            if load > limit:
                self._loads[holder] = limits[holder] = limit
        self._above = self._count_above()
        return limits

    def has_room(self, holder: K) -> bool:
        """Whether a holder may have one more."""
        load = self._loads[holder]
        return load < self._floor or (load == self._floor and self._above < self._left_over)

    def add(self, holder: K) -> None:
        """Give a holder one more."""
        self._above += self._loads[holder] == self._floor
        self._loads[holder] += 1

    def _count_above(self) -> int:
        return sum(1 for load in self._loads.values() if load > self._floor)
