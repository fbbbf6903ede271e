"""Date patterns: Java's SimpleDateFormat in UTC and English, lenient as it is.

Known are all its letters and quoted text. Parsing takes a prefix of the text; parts beyond their range carry
over; two digits of a year mean 1946 to 2045. The weeks w W F and the week's year Y are written but not read.
Points in time are milliseconds since the epoch, of any year, and days are those of Java's calendar: Julian
until 1582-10-04. A zone that is named has the offset of its name at any time, PST always 8 hours behind UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from copycat_connect.data.java_calendar import DAY_MILLIS, calendar_day, day_number, day_of_year_number
from copycat_connect.errors import ConfigError

_GMT = re.compile("GMT", re.IGNORECASE)
#: By the count of the letter X: +hh, +hhmm, +hh:mm.
_ISO = {
    1: re.compile(r"([+-])([01]\d|2[0-3])"),
    2: re.compile(r"([+-])([01]\d|2[0-3])([0-5]\d)"),
    3: re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)"),
}
_RFC_822 = _ISO[2]
_AFTER_GMT = re.compile(r"([+-])([01]?\d|2[0-3]):([0-5]\d)")
_Zone = tuple[int, int]
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKENS = re.compile(
    r"(?P<quote>'')|'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([a-zA-Z])\4*)|(?P<text>[^a-zA-Z']+)"
)
_CENTURY_START = 1946
_NUMBER = re.compile(r"[ \t]*(-?[0-9]+)")
Numbers = dict[str, int]
#: Letters that only format: what Java makes of weeks in a text depends on whatever else the text says.
_FORMAT_ONLY = "wWFY"


def parse_zone(letter: str, count: int, text: str, place: int) -> _Zone | None:
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


def _offset(pattern: re.Pattern[str], text: str, place: int) -> _Zone | None:
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


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of one pattern letter, or literal text when there is no letter."""

    letter: str
    count: int
    text: str
    abuts_number: bool
    """True when a number follows at once, so that this one takes `count` characters, blanks among them."""


class DatePattern:
    """Formats and parses points in time."""

    def __init__(self, pattern: str) -> None:
        """Compile a pattern.

        Raises:
            ConfigError: It is not one, or uses letters that are not known.
        """
        self._parts = _split(pattern)
        self._writers = tuple(map(_writer, self._parts))

    def format(self, millis: int) -> str:
        """Return the text of a point in time, given in milliseconds since the epoch."""
        fields = DateFields(millis)
        return "".join([write(fields) for write in self._writers])

    def parse(self, text: str) -> int | None:
        """Return the milliseconds since the epoch a text begins with; None when it begins with none."""
        if any(part.letter and part.letter in _FORMAT_ONLY for part in self._parts):
            return None
        numbers: Numbers = {}
        place = 0
        for part in self._parts:
            end = _parse(part, text, place, numbers)
            if end is None:
                return None
            place = end
        return _millis(numbers)


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
        raise ConfigError(f"Illegal pattern character '{letters[0]}'")
    if letters[0] == "X" and len(letters) > 3:
        raise ConfigError(f"invalid ISO 8601 format: length={len(letters)}")
    abuts = after is not None and bool(after["letters"]) and _is_number(after["letters"])
    return _Part(letters[0], len(letters), "", abuts_number=abuts)


def _is_number(letters: str) -> bool:
    return letters[0] in {"y", "Y", *NUMBERS} or (letters[0] in "ML" and len(letters) < 3)


def _writer(part: _Part) -> Callable[[DateFields], str]:
    """Return what writes a part."""
    letter, count = part.letter, part.count
    short = slice(None) if count > 3 else slice(3)
    number = NUMBERS.get(letter)
    write: Callable[[DateFields], str]
    if number is not None:
        write = lambda fields: f"{number(fields):0{count}d}"  # noqa: E731  # one of several, by letter
    elif letter in ("y", "Y"):
        write = _year_writer(letter, count)
    elif letter in ("M", "L"):
        write = _month_writer(count, short)
    else:
        zone = "UTC" if count < 4 else "Coordinated Universal Time"
        writers: dict[str, Callable[[DateFields], str]] = {
            "": lambda _: part.text,
            "E": lambda fields: _DAYS[fields.weekday][short],
            "a": lambda fields: "AM" if fields.hour < 12 else "PM",
            "G": lambda fields: "AD" if fields.year > 0 else "BC",
            "Z": lambda _: "+0000",
            "X": lambda _: "Z",
            "z": lambda _: zone,
        }
        write = writers[letter]
    return write


def _month_writer(count: int, short: slice) -> Callable[[DateFields], str]:
    if count > 2:
        return lambda fields: _MONTHS[fields.month - 1][short]
    return lambda fields: f"{fields.month:0{count}d}"


def _year_writer(letter: str, count: int) -> Callable[[DateFields], str]:
    def write(fields: DateFields) -> str:
        year = fields.year_of_era if letter == "y" else fields.year_of_week
        sign, digits = "-" if year < 0 else "", str(abs(year))
        return sign + (digits[-2:] if count == 2 else digits).zfill(count)

    return write


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
            end = _parse_zone(part, text, place, numbers)
        case "G":
            end = _parse_name(text, place, ("BC", "AD"), numbers, "G")
        case "M" | "L" if part.count > 2:
            end = _parse_name(text, place, _MONTHS, numbers, "M")
            numbers["M"] = numbers.get("M", 0) + 1
        case _:
            end = _parse_number(part, text, place, numbers)
    return end


def _parse_number(part: _Part, text: str, place: int, numbers: Numbers) -> int | None:
    end = place + part.count if part.abuts_number else len(text)
    found = _NUMBER.match(text, place, end) if end <= len(text) else None
    if found is None:
        return None
    number = _cut(int(found[1]), 32)
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


def _parse_zone(part: _Part, text: str, place: int, numbers: Numbers) -> int | None:
    found = parse_zone(part.letter, part.count, text, place)
    if found is None:
        return None
    numbers["zone"], end = found
    return end


def _millis(numbers: Numbers) -> int:
    year, month = numbers.get("y", 1970), numbers.get("M", 1)
    if numbers.get("G") == 0:
        year = 1 - year
    if next((letter for letter in reversed(numbers) if letter in "dD"), "d") == "D":
        days = day_of_year_number(year, numbers["D"])
    else:
        days = day_number(year, month, numbers.get("d", 1))
    minutes = _hours(numbers) * 60 + numbers.get("m", 0) - numbers.get("zone", 0)
    seconds = minutes * 60 + numbers.get("s", 0)
    return _cut(days * DAY_MILLIS + seconds * 1000 + numbers.get("S", 0), 64)


def _hours(numbers: Numbers) -> int:
    """Return the hour of the day: 24 of `k` and 12 of `h` are 0, whatever else is too high carries over."""
    half = numbers.get("h", numbers.get("K"))
    if half is not None:
        return (0 if half == 12 and "h" in numbers else half) + 12 * numbers.get("a", 0)
    hour = numbers.get("H", numbers.get("k", 0))
    return 0 if hour == 24 and "H" not in numbers else hour


def _cut(number: int, bits: int) -> int:
    """Return the number Java's int or long holds: what is beyond them is cut off."""
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


class DateFields:
    """A point in time, taken apart in UTC."""

    __slots__ = ("day", "days", "hour", "millis", "minute", "month", "second", "year")

    def __init__(self, millis: int) -> None:
        """Split milliseconds since the epoch."""
        self.days, of_day = divmod(millis, DAY_MILLIS)
        seconds, self.millis = divmod(of_day, 1000)
        minutes, self.second = divmod(seconds, 60)
        self.hour, self.minute = divmod(minutes, 60)
        self.year, self.month, self.day = calendar_day(self.days)

    @property
    def year_of_era(self) -> int:
        """The year counted from 1 in both directions."""
        return self.year if self.year > 0 else 1 - self.year

    @property
    def weekday(self) -> int:
        """Days since Monday."""
        return (self.days + 3) % 7

    @property
    def year_of_week(self) -> int:
        """The year whose week it is: the last days of December may lie in the next year's first week."""
        new_year = day_number(self.year + 1, 1, 1)
        return self.year + (new_year - self.days <= _since_sunday(new_year))


def _since_sunday(days: int) -> int:
    return (days + 4) % 7


def _day_of_year(fields: DateFields) -> int:
    return fields.days - day_number(fields.year, 1, 1) + 1


def _day_of_month(fields: DateFields) -> int:
    """Return which day of its month it is: the month of the cutover has no days 5 to 14."""
    return fields.days - day_number(fields.year, fields.month, 1)


def _week_of_year(fields: DateFields) -> int:
    if fields.year_of_week > fields.year:
        return 1
    new_year = day_number(fields.year, 1, 1)
    return (fields.days - new_year + _since_sunday(new_year)) // 7 + 1


def _week_of_month(fields: DateFields) -> int:
    return (_day_of_month(fields) + _since_sunday(day_number(fields.year, fields.month, 1))) // 7 + 1


#: Pattern letter -> the number it shows.
NUMBERS: Final[Mapping[str, Callable[[DateFields], int]]] = {
    "d": lambda fields: fields.day,
    "D": _day_of_year,
    "F": lambda fields: _day_of_month(fields) // 7 + 1,
    "w": _week_of_year,
    "W": _week_of_month,
    "u": lambda fields: fields.weekday + 1,
    "H": lambda fields: fields.hour,
    "k": lambda fields: fields.hour or 24,
    "K": lambda fields: fields.hour % 12,
    "h": lambda fields: fields.hour % 12 or 12,
    "m": lambda fields: fields.minute,
    "s": lambda fields: fields.second,
    "S": lambda fields: fields.millis,
}
