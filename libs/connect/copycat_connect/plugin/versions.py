"""Version ranges: which version of a plugin a configuration asks for.

Ranges are written as Maven writes them: `[1.0,2.0)`, `(,1.5]`, several separated by commas. A bare version
is a demand for exactly that one.
"""

from __future__ import annotations

import re

from copycat_connect.errors import ConfigError

LATEST = "latest"
_RANGE = re.compile(r"([\[(])\s*([^,\[\]()]*?)\s*(?:(,)\s*([^,\[\]()]*?)\s*)?([\])])")
_PARTS = re.compile(r"\d+|[a-zA-Z]+")


def matches(wanted: str | None, version: str) -> bool:
    """Return whether a version is what a configuration asks for; None, nothing and `latest` take any.

    Raises:
        ConfigError: It is no version range.
    """
    text = (wanted or "").strip()
    if text in ("", LATEST):
        return True
    if text[0] not in "[(":
        return _rank(version) == _rank(text)
    ranges = list(_RANGE.finditer(text))
    if ",".join(found[0] for found in ranges) != re.sub(r"(?<=[\])])\s*,\s*(?=[\[(])", ",", text):
        message = f"{wanted} is no version range; write one as [1.0,2.0)"
        raise ConfigError(message)
    return any(_lies_in(found, version) for found in ranges)


def describe(wanted: str) -> str:
    """Return the range as an error text names it."""
    text = wanted.strip()
    return text if text[:1] in ("[", "(") else f"[{text},{text}]"


def _lies_in(found: re.Match[str], version: str) -> bool:
    opening, low, comma, high, closing = found.groups()
    rank = _rank(version)
    if comma is None:
        return rank == _rank(low)
    above = not low or rank > _rank(low) or (opening == "[" and rank == _rank(low))
    below = not high or rank < _rank(high) or (closing == "]" and rank == _rank(high))
    return above and below


def _rank(version: str) -> list[tuple[int, int, str]]:
    """Return what versions are ordered by: numbers as numbers, and before a release its named stages."""
    parts: list[tuple[int, int, str]] = []
    for part in _PARTS.findall(version):
        if part.isdigit():
            parts.append((1, int(part), ""))
        else:
            _drop_zeros(parts)
            parts.append((-1, 0, part.lower()))
    _drop_zeros(parts)
    return [*parts, (0, 0, "")]


def _drop_zeros(parts: list[tuple[int, int, str]]) -> None:
    while parts and parts[-1] == (1, 0, ""):
        parts.pop()
