"""Times as Joda-Time's patterns write them, in English: the way `path.format` names folders."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from copycat_connect.errors import ConfigError, DataError

from copycat_objects.names import checked_folder

_TOKENS = re.compile(
    r"(?P<quote>'')|'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([a-zA-Z])\4*)|(?P<text>[^a-zA-Z']+)"
)
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SOME_TIME: Final = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
Write = Callable[[datetime, int], str]


class PathFormat:
    """A pattern, read once."""

    def __init__(self, pattern: str) -> None:
        """Read a pattern; a slash at its ends adds no folder.

        Raises:
            ConfigError: It is malformed, or names no folder.
        """
        if not pattern.strip("/"):
            raise _wrong(pattern, "it names no folder")
        pattern = pattern.strip("/")
        self._parts: list[str | tuple[Write, int]] = []
        place = 0
        while place < len(pattern):
            token = _TOKENS.match(pattern, place)
            if token is None:
                raise _wrong(pattern, "a quote is not closed")
            self._parts.append(_part(pattern, token))
            place = token.end()
        try:
            checked_folder(self.text(_SOME_TIME))
        except DataError as error:
            raise _wrong(pattern, error.message) from error

    def text(self, time: datetime) -> str:
        """Return a time as the pattern says."""
        return "".join(part if isinstance(part, str) else part[0](time, part[1]) for part in self._parts)


def _part(pattern: str, token: re.Match[str]) -> str | tuple[Write, int]:
    if token["quote"]:
        return "'"
    if token["quoted"] is not None:
        return token["quoted"].replace("''", "'")
    if token["text"]:
        return token["text"]
    letters = token["letters"]
    write = _WRITERS.get(letters[0])
    if write is None:
        known = " ".join(_WRITERS)
        raise _wrong(
            pattern, f"the letter {letters[0]} is not known; known are {known}, and text in quotes '...'"
        )
    return write, len(letters)


def _wrong(pattern: str, why: str) -> ConfigError:
    return ConfigError(f"Invalid value {pattern} for configuration path.format: {why}", key="path.format")


def _number(value: int, count: int) -> str:
    return f"{value:0{count}d}"


def _year(value: int, count: int) -> str:
    return f"{value % 100:02d}" if count == 2 else _number(value, count)


def _month(time: datetime, count: int) -> str:
    name = _MONTHS[time.month - 1]
    if count > 3:
        return name
    return name[:3] if count == 3 else _number(time.month, count)


def _weekday(time: datetime, count: int) -> str:
    name = _DAYS[time.weekday()]
    return name if count > 3 else name[:3]


def _zone(time: datetime, count: int) -> str:
    if count > 2:
        return str(time.tzinfo)
    text = time.strftime("%z")
    return text if count == 1 else f"{text[:3]}:{text[3:]}"


_WRITERS: Final[dict[str, Write]] = {
    "G": lambda time, count: "AD",
    "C": lambda time, count: _number(time.year // 100, count),
    "Y": lambda time, count: _year(time.year, count),
    "y": lambda time, count: _year(time.year, count),
    "x": lambda time, count: _year(time.isocalendar().year, count),
    "w": lambda time, count: _number(time.isocalendar().week, count),
    "e": lambda time, count: _number(time.isoweekday(), count),
    "E": _weekday,
    "D": lambda time, count: _number(time.timetuple().tm_yday, count),
    "M": _month,
    "d": lambda time, count: _number(time.day, count),
    "a": lambda time, count: "AM" if time.hour < 12 else "PM",
    "K": lambda time, count: _number(time.hour % 12, count),
    "h": lambda time, count: _number((time.hour + 11) % 12 + 1, count),
    "H": lambda time, count: _number(time.hour, count),
    "k": lambda time, count: _number(time.hour or 24, count),
    "m": lambda time, count: _number(time.minute, count),
    "s": lambda time, count: _number(time.second, count),
    "S": lambda time, count: f"{time.microsecond:06d}"[:count].ljust(count, "0"),
    "z": lambda time, count: time.tzname() or str(time.tzinfo),
    "Z": _zone,
}
