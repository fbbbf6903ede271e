"""Even loads: who has too much, who has room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", int, str)


class Loads(Generic[K]):
    """How many of `total` things each holder has, and how many it may have so that no two differ by two.

    Every holder may have the floor of the average, and as many as there are left over one more.
    """

    def __init__(self, loads: Mapping[K, int], total: int) -> None:
        """Take the present loads; there must be a holder."""
        self._loads: dict[K, int] = dict(loads)
        self._floor, self._left_over = divmod(total, len(self._loads))
        self._above = self._count_above()

    def __getitem__(self, holder: K) -> int:
        """Return a holder's load."""
        return self._loads[holder]

    def __iter__(self) -> Iterator[K]:
        """Yield the holders."""
        return iter(self._loads)

    def trim(self) -> dict[K, int]:
        """Cut every load to what its holder may have; return the limits of those that had more.

        The fullest holders get what is left over: that moves the fewest.
        """
        limits: dict[K, int] = {}
        spare = self._left_over
        for holder in sorted(self._loads, key=lambda holder: (-self._loads[holder], holder)):
            load = self._loads[holder]
            if load <= self._floor:
                break
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
