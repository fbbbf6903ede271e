"""What waits to be written or sent while the other side is away: of each key only the newest value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class NewestWaiting(Generic[K, V]):
    """Values that wait, one for each key: an older one never overwrites a newer one where they go.

    A value waits from `put` until `done` or `forget`, also while somebody tries to send it. Before each try
    the sender asks `remaining` which of its values are still wanted. Values are the same only if they are the
    same object. To be used by one thread.
    """

    def __init__(self) -> None:
        self._newest: dict[K, V] = {}

    def __bool__(self) -> bool:
        """Return whether anything waits."""
        return bool(self._newest)

    def put(self, values: Mapping[K, V]) -> frozenset[K]:
        """Let values wait behind those that wait already; returns the keys whose older value they replace."""
        replaced = frozenset(self._newest.keys() & values.keys())
        for key in replaced:
            del self._newest[key]
        self._newest.update(values)
        return replaced

    def oldest(self, limit: int) -> dict[K, V]:
        """Return the values that have waited longest, at most so many; they go on waiting."""
        return dict(islice(self._newest.items(), limit))

    def remaining(self, values: Mapping[K, V]) -> dict[K, V]:
        """Return those of some values that still wait: no newer one replaced them and nobody forgot them."""
        return {key: value for key, value in values.items() if self._newest.get(key) is value}

    def done(self, values: Mapping[K, V]) -> None:
        """Let values go; a newer one of the same key goes on waiting."""
        for key in self.remaining(values):
            del self._newest[key]

    def forget(self, concerns: Callable[[K], bool]) -> None:
        """Drop what waits under the keys that concern something which is no more."""
        self._newest = {key: value for key, value in self._newest.items() if not concerns(key)}
