"""Date patterns: Java's SimpleDateFormat in UTC and English, lenient as it is.

Known are all its letters and quoted text. Parsing takes a prefix of the text; parts beyond their range carry
over; two digits of a year mean 1946 to 2045. The weeks w W F and the week's year Y are written but not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from copycat_connect.errors import ConfigError
from copycat_connect.values.date_fields import NUMBERS, year_of_week

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKENS = re.compile(
    r"(?P<quote>'')|'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([a-zA-Z])\4*)|(?P<text>[^a-zA-Z']+)"
)
_CENTURY_START = 1946
_ZONE = re.compile(r"(?:UTC|GMT|Z)?(?:(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?)?")
Numbers = dict[str, int]

#: Letters that only format: what Java makes of weeks in a text depends on whatever else the text says.
_FORMAT_ONLY = "wWFY"


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of one pattern letter, or literal text when there is no letter."""

    letter: str
    count: int
    text: str
    abuts_number: bool
    """True when a number follows at once, so that this one has exactly `count` digits."""


class DatePattern:
    """Formats and parses points in time."""

    def __init__(self, pattern: str) -> None:
        """Take a pattern.

        Raises:
            ConfigError: It is not one, or uses letters that are not known.
        """
        self._parts = _split(pattern)

    def format(self, moment: datetime) -> str:
        """Return the text of a point in time."""
        utc = moment.astimezone(UTC)
        return "".join(_format(part, utc) for part in self._parts)

    def parse(self, text: str) -> datetime | None:
        """Return the point in time that a text begins with; None when it begins with none."""
        if any(part.letter and part.letter in _FORMAT_ONLY for part in self._parts):
            return None
        numbers: Numbers = {}
        place = 0
        for part in self._parts:
            end = _parse(part, text, place, numbers)
            if end is None:
                return None
            place = end
        try:
            return _moment(numbers)
        except (ValueError, OverflowError):
            return None


def _split(pattern: str) -> tuple[_Part, ...]:
    tokens, place = [], 0
    while place < len(pattern):
        token = _TOKENS.match(pattern, place)
        if token is None:
            raise ConfigError("Unterminated quote")
        tokens.append(token)
        place = token.end()
    following = [*tokens[1:], None][: len(tokens)]
    return tuple(_part(token, after) for token, after in zip(tokens, following, strict=True))


def _part(token: re.Match[str], after: re.Match[str] | None) -> _Part:
    letters = token["letters"]
    if not letters:
        quoted = token["quoted"]
        literal = token["text"] or "'" if quoted is None else quoted.replace("''", "'")
        return _Part("", 0, literal, abuts_number=False)
    if letters[0] not in "GyYMLwWDdFEuaHkKhmsSzZX":
        message = f"Illegal pattern character '{letters[0]}'"
        raise ConfigError(message)
    abuts = after is not None and bool(after["letters"]) and _is_number(after["letters"])
    return _Part(letters[0], len(letters), "", abuts_number=abuts)


def _is_number(letters: str) -> bool:
    return letters[0] in {"y", "Y", *NUMBERS} or (letters[0] in "ML" and len(letters) < 3)


def _format(part: _Part, moment: datetime) -> str:
    match part.letter:
        case "":
            text = part.text
        case "G":
            text = "AD"
        case "y" | "Y":
            year = moment.year if part.letter == "y" else year_of_week(moment)
            text = f"{year % 100:02d}" if part.count == 2 else f"{year:0{part.count}d}"
        case "M" | "L":
            number = f"{moment.month:0{part.count}d}"
            text = _name(_MONTHS[moment.month - 1], part) if part.count > 2 else number
        case "E":
            text = _name(_DAYS[moment.weekday()], part)
        case "a":
            text = "AM" if moment.hour < 12 else "PM"
        case "Z" | "X" | "z":
            zone = "UTC" if part.count < 4 else "Coordinated Universal Time"
            text = {"Z": "+0000", "X": "Z", "z": zone}[part.letter]
        case letter:
            text = f"{NUMBERS[letter](moment):0{part.count}d}"
    return text


def _name(name: str, part: _Part) -> str:
    return name if part.count > 3 else name[:3]


def _parse(part: _Part, text: str, place: int, numbers: Numbers) -> int | None:
    """Read one part; returns the place behind it, or None when it is not there."""
    match part.letter:
        case "":
            end = place + len(part.text) if text.startswith(part.text, place) else None
        case "E":
            end = _parse_name(text, place, _DAYS, numbers, "E")
        case "a":
            end = _parse_name(text, place, ("AM", "PM"), numbers, "a")
        case "Z" | "X" | "z":
            end = _parse_zone(text, place, numbers)
        case "G":
            end = _parse_name(text, place, ("AD",), numbers, "G")
        case "M" | "L" if part.count > 2:
            end = _parse_name(text, place, _MONTHS, numbers, "M")
            numbers["M"] = numbers.get("M", 0) + 1
        case _:
            end = _parse_number(part, text, place, numbers)
    return end


def _parse_number(part: _Part, text: str, place: int, numbers: Numbers) -> int | None:
    digits = f"{{1,{part.count}}}" if part.abuts_number else "+"
    found = re.compile(rf"[ \t]*(-?\d{digits})").match(text, place)
    if found is None:
        return None
    number = int(found[1])
    if part.letter == "y" and part.count <= 2 and len(found[1]) == 2 and number >= 0:
        number += 1900 if 1900 + number >= _CENTURY_START else 2000
    numbers["M" if part.letter == "L" else part.letter] = number
    return found.end()


def _parse_name(text: str, place: int, names: tuple[str, ...], numbers: Numbers, letter: str) -> int | None:
    rest = text[place:].lower()
    for number, name in enumerate(names):
        for form in (name, name[:3]):
            if rest.startswith(form.lower()):
                numbers[letter] = number
                return place + len(form)
    return None


def _parse_zone(text: str, place: int, numbers: Numbers) -> int | None:
    found = _ZONE.match(text, place)
    if found is None or found.end() == place:
        return None
    minutes = int(found["hours"] or 0) * 60 + int(found["minutes"] or 0)
    numbers["zone"] = -minutes if found["sign"] == "-" else minutes
    return found.end()


def _moment(numbers: Numbers) -> datetime:
    years, month = divmod(numbers.get("M", 1) - 1, 12)
    start = datetime(numbers.get("y", 1970) + years, month + 1, 1, tzinfo=UTC)
    days = numbers.get("d", 1) - 1
    if next((letter for letter in reversed(numbers) if letter in "dD"), "d") == "D":
        start, days = start.replace(month=1), numbers["D"] - 1
    half_day = 12 * numbers.get("a", 0)
    hours = numbers.get("H", numbers.get("k", 0) % 24)
    if "h" in numbers or "K" in numbers:
        hours = numbers.get("h", numbers.get("K", 0)) % 12 + half_day
    return start + timedelta(
        days=days,
        hours=hours,
        minutes=numbers.get("m", 0) - numbers.get("zone", 0),
        seconds=numbers.get("s", 0),
        milliseconds=numbers.get("S", 0),
    )
