"""Time zones in dates as text: offsets and names, read as Java's SimpleDateFormat reads them."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_GMT = re.compile("GMT", re.IGNORECASE)
#: By the count of the letter X: +hh, +hhmm, +hh:mm.
_ISO = {
    1: re.compile(r"([+-])([01]\d|2[0-3])"),
    2: re.compile(r"([+-])([01]\d|2[0-3])([0-5]\d)"),
    3: re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)"),
}
_RFC_822 = _ISO[2]
_AFTER_GMT = re.compile(r"([+-])([01]?\d|2[0-3]):([0-5]\d)")
Zone = tuple[int, int]


def parse_zone(letter: str, count: int, text: str, place: int) -> Zone | None:
    """Return how many minutes a zone is ahead of UTC, and the place behind it; None without a zone.

    Args:
        letter: `z` and `Z` read names, `GMT+1:00` and `+0100`; `X` reads `Z` and the offset its count says.
        count: How often the letter stands.
        text: The text.
        place: Where the zone begins, or blanks before it.
    """
    while text[place : place + 1] in (" ", "\t"):
        place += 1
    if letter == "X":
        return (0, place + 1) if text[place : place + 1] == "Z" else _offset(_ISO[count], text, place)
    if text[place : place + 1] in ("+", "-"):
        return _offset(_RFC_822, text, place)
    gmt = _GMT.match(text, place)
    if gmt is not None:
        signed = text[gmt.end() : gmt.end() + 1] in ("+", "-")
        return _offset(_AFTER_GMT, text, gmt.end()) if signed else (0, gmt.end())
    pattern, offsets = _names()
    named = pattern.match(text, place)
    return None if named is None else (offsets[named[0].lower()], named.end())


def _offset(pattern: re.Pattern[str], text: str, place: int) -> Zone | None:
    found = pattern.match(text, place)
    if found is None:
        return None
    sign, hours, *minutes = found.groups()
    ahead = int(hours) * 60 + int(*minutes)
    return -ahead if sign == "-" else ahead, found.end()


@cache
def _names() -> tuple[re.Pattern[str], dict[str, int]]:
    """Read the table: a line for each offset, minutes ahead of UTC and then the names of the zones."""
    offsets: dict[str, int] = {}
    for line in (files(__package__) / "zone_names.txt").read_text("utf-8").splitlines():
        minutes, *names = line.split("|")
        offsets |= dict.fromkeys(map(str.lower, names), int(minutes))
    longest_first = sorted(offsets, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE), offsets
