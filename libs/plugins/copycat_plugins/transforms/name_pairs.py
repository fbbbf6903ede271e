"""Pairs in lists, `left:right`, cut and ordered as Java does: which failure is met first depends on it."""

from __future__ import annotations

from collections.abc import Iterable


def split_pair(text: str) -> list[str]:
    """Return the parts between colons; empty ones at the end do not count (Java's `String.split`)."""
    parts = text.split(":")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def in_hash_order(names: Iterable[str], slots: int = 16) -> list[str]:
    """Return names in the order in which Java's HashMap or HashSet gives them.

    Args:
        names: The names, in the order in which they were put in.
        slots: Size of the table when it was made, a power of two; it doubles when it is three quarters full.
    """
    distinct = list(dict.fromkeys(names))
    while len(distinct) > slots * 3 // 4:
        slots *= 2
    return sorted(distinct, key=lambda name: _spread(name) & slots - 1)


def set_slots(size: int) -> int:
    """Return the size of the table of a HashSet that is made of a collection."""
    wanted, slots = max(int(size / 0.75) + 1, 16), 16
    while slots < wanted:
        slots *= 2
    return slots


def _spread(name: str) -> int:
    """Return Java's String.hashCode, its upper half mixed into the lower as HashMap does."""
    code = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for place in range(0, len(units), 2):
        code = code * 31 + int.from_bytes(units[place : place + 2], "big") & 0xFFFFFFFF
    return code ^ code >> 16
