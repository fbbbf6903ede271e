"""Sets of characters as ranges of code points: Java's unions and intersections of classes become exact."""

from __future__ import annotations

from collections.abc import Iterable

LAST_CODE_POINT = 0x10FFFF
Range = tuple[int, int]
Ranges = tuple[Range, ...]
#: Ranges longer than this keep their case: folding is by character.
_MAX_FOLDED_CODE_POINTS = 0x3000


def union(*sets: Iterable[Range]) -> Ranges:
    """Return what is in any of the sets."""
    merged: list[Range] = []
    for low, high in sorted(each for ranges in sets for each in ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """Return what is not in a set."""
    found, place = [], 0
    for low, high in union(ranges):
        if place < low:
            found.append((place, low - 1))
        place = high + 1
    return (*found, (place, LAST_CODE_POINT)) if place <= LAST_CODE_POINT else tuple(found)


def intersection(first: Ranges, second: Ranges) -> Ranges:
    """Return what is in both sets."""
    return complement(union(complement(first), complement(second)))


def of_text(characters: str) -> Ranges:
    """Return the set of some characters."""
    return union((ord(each), ord(each)) for each in characters)


def without_case(ranges: Ranges, *, unicode_case: bool) -> Ranges:
    """Return a set with the other case of its letters, of ASCII letters alone unless all are asked for."""
    found = set()
    for low, high in ranges:
        top = high if unicode_case else min(high, 0x7F)
        for point in range(low, min(top, low + _MAX_FOLDED_CODE_POINTS) + 1):
            for other in (chr(point).lower(), chr(point).upper()):
                if len(other) == 1 and (unicode_case or other.isascii()):
                    found.add((ord(other), ord(other)))
    return union(ranges, found)


def written(ranges: Ranges) -> str:
    """Return a set as a class of Python's regular expressions."""
    if not ranges:
        return "(?!)"
    if ranges == ((0, LAST_CODE_POINT),):
        return r"[\s\S]"
    parts = (f"{_point(low)}-{_point(high)}" if low < high else _point(low) for low, high in ranges)
    return "[" + "".join(parts) + "]"


def _point(point: int) -> str:
    return f"\\U{point:08x}"
