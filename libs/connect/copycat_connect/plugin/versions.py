"""Version ranges: which version of a plugin a configuration asks for (KIP-891).

Ranges are written as Maven writes them: `[1.0,2.0)`, `(,1.5]`, several separated by commas. A bare version
is a demand for exactly that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from copycat_connect.plugin.errors import InvalidVersionRangeError

LATEST = "latest"
_PARTS = re.compile(r"\d+|[a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class _Interval:
    """Versions between two bounds; a bound that is not there is empty."""

    low: str
    high: str
    takes_low: bool
    takes_high: bool

    def contains(self, version: str) -> bool:
        rank = version_order(version)
        above = (
            not self.low
            or rank > version_order(self.low)
            or (self.takes_low and rank == version_order(self.low))
        )
        below = (
            not self.high
            or rank < version_order(self.high)
            or (self.takes_high and rank == version_order(self.high))
        )
        return above and below

    def __str__(self) -> str:
        return f"{'[' if self.takes_low else '('}{self.low},{self.high}{']' if self.takes_high else ')'}"


@dataclass(frozen=True, slots=True)
class _Exactly:
    """One version, which may be empty and is then no plugin's."""

    version: str

    def contains(self, version: str) -> bool:
        return bool(self.version) and version_order(version) == version_order(self.version)

    def __str__(self) -> str:
        return f"[{self.version},{self.version}]"


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions a configuration asks for; its text is how error messages name it."""

    parts: tuple[_Interval | _Exactly, ...]

    def contains(self, version: str) -> bool:
        """Return whether a version is one of them."""
        return any(part.contains(version) for part in self.parts)

    def __str__(self) -> str:
        """Return the range as Maven prints it, with both bounds of every part."""
        return ",".join(map(str, self.parts))


def version_range(wanted: str | None) -> VersionRange | None:
    """Read a version range; None and `latest` ask for no particular version and give None.

    Raises:
        InvalidVersionRangeError: It is malformed; the texts are Maven's.
    """
    if wanted is None or wanted == LATEST:
        return None
    text = wanted.strip()
    written = text if text[:1] in ("[", "(") else f"[{text}]"
    parts: list[_Interval | _Exactly] = []
    rest, highest = written, None
    while rest[:1] in ("[", "("):
        end = min((place for place in (rest.find("]"), rest.find(")")) if place >= 0), default=-1)
        if end < 0:
            raise InvalidVersionRangeError(wanted, f"Unbounded range: {written}")
        part = _part(rest[: end + 1], wanted)
        low, high = (part.version, part.version) if isinstance(part, _Exactly) else (part.low, part.high)
        if highest is not None and (not low or version_order(low) < version_order(highest)):
            raise InvalidVersionRangeError(wanted, f"Ranges overlap: {written}")
        parts.append(part)
        highest = high or None
        rest = rest[end + 1 :].strip().removeprefix(",").strip()
    if rest:
        reason = f"Only fully-qualified sets allowed in multiple set scenario: {written}"
        raise InvalidVersionRangeError(wanted, reason)
    return VersionRange(tuple(parts))


def _part(written: str, wanted: str) -> _Interval | _Exactly:
    takes_low, takes_high = written[0] == "[", written[-1] == "]"
    low, comma, high = (each.strip() for each in written[1:-1].partition(","))
    if not comma:
        if not (takes_low and takes_high):
            raise InvalidVersionRangeError(wanted, f"Single version must be surrounded by []: {written}")
        return _Exactly(low)
    if low and high and (version_order(high), takes_low and takes_high) < (version_order(low), True):
        raise InvalidVersionRangeError(wanted, f"Range defies version ordering: {written}")
    return _Interval(low, high, takes_low, takes_high)


def version_order(version: str) -> list[tuple[int, int, str]]:
    """Return what versions are ordered by: numbers as numbers, and the named stages before their release."""
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
