"""Messages of a whole state, of which little changes between two questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

F = TypeVar("F")
M = TypeVar("M")


class Rendering(Generic[F, M]):
    """Makes the message of each name's facts once.

    No second truth beside the fold: facts never change but are replaced, so a message holds exactly as long
    as the very same facts stand under its name.
    """

    def __init__(self, make: Callable[[str, F], M | None]) -> None:
        """`make` returns the message of a name, or None where there is nothing to show."""
        self._make = make
        self._made: dict[str, tuple[F, M | None]] = {}

    def messages(self, facts: Mapping[str, F]) -> list[M]:
        """Return the messages of a state by name; they are shared, so nobody may change them."""
        self._made = {name: self._of(name, facts[name]) for name in sorted(facts)}
        return [message for _, message in self._made.values() if message is not None]

    def _of(self, name: str, facts: F) -> tuple[F, M | None]:
        known = self._made.get(name)
        return known if known is not None and known[0] is facts else (facts, self._make(name, facts))
