"""Which connectors changed since they were last looked at: a look costs what changed, not what there is."""

from __future__ import annotations

from collections.abc import Sequence


class Touched:
    """Names of connectors in the order in which they changed; at first, all of them."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._all = True

    @property
    def names(self) -> Sequence[str] | None:
        """The connectors to look at; None is all there are."""
        return None if self._all else tuple(self._names)

    def add(self, name: str) -> None:
        """Something changed of a connector or of its tasks."""
        self._names[name] = None

    def everything(self) -> None:
        """Anything may have changed."""
        self._all = True

    def clear(self) -> None:
        """All of them were looked at."""
        self._names, self._all = {}, False
