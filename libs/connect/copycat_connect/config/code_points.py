"""Sets of characters as ranges of code points: Java's unions and intersections of classes become exact."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache

LAST_CODE_POINT = 0x10FFFF
Range = tuple[int, int]
Ranges = tuple[Range, ...]
#: Unicode has no letters with cases beyond the supplementary multilingual plane.
_LAST_CASED_CODE_POINT = 0x1FFFF


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
    found: set[Range] = set()
    points, others = _cased() if unicode_case else _cased_ascii()
    for low, high in ranges:
        for place in range(bisect_left(points, low), bisect_right(points, high)):
            found.update((other, other) for other in others[place])
    return union(ranges, found)


@cache
def _cased_ascii() -> tuple[list[int], list[tuple[int, ...]]]:
    points = [point for point in range(0x80) if chr(point).isalpha()]
    return points, [(point ^ 0x20,) for point in points]


@cache
def _cased() -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the characters that have another case, in order, and what they are in it."""
    points: list[int] = []
    others: list[tuple[int, ...]] = []
    for point in range(_LAST_CASED_CODE_POINT + 1):
        letter = chr(point)
        both = {ord(other) for other in (letter.lower(), letter.upper()) if len(other) == 1} - {point}
        if both:
            points.append(point)
            others.append(tuple(both))
    return points, others


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
