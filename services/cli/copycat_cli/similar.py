"""Names close to one that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def similar(name: str, known: Iterable[str], *, closeness: float = 0.5) -> list[str]:
    """Return up to three known names that look like this one, the closest first."""
    by_folded = {each.lower(): each for each in known}
    return [by_folded[match] for match in get_close_matches(name.lower(), by_folded, cutoff=closeness)]
