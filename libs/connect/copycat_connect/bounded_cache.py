"""BoundedCache: what was made for the last keys asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Makes values on demand and keeps the latest; not for several threads."""

    def __init__(self, size: int, make: Callable[[K], V]) -> None:
        self._size = max(size, 1)
        self._make = make
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V:
        """Return the value made for the key, now or before."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = self._kept[key] = self._make(key)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return value
