r"""The properties Java's regular expressions know by name: `\p{Lu}`, `\p{IsGreek}`, `\p{javaUpperCase}`.

General categories come with Python; scripts, blocks and two binary properties from a table of Java's.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

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


DIGIT: Final[Ranges] = of_text("0123456789")
SPACE: Final[Ranges] = of_text(" \t\n\x0b\f\r")
HORIZONTAL: Final[Ranges] = union(of_text(" \t\xa0\u1680\u180e\u202f\u205f\u3000"), [(0x2000, 0x200A)])
VERTICAL: Final[Ranges] = of_text("\n\x0b\f\r\x85\u2028\u2029")
_LOWER, _UPPER = union([(97, 122)]), union([(65, 90)])
_ALPHA = union(_LOWER, _UPPER)
WORD: Final[Ranges] = union(_ALPHA, DIGIT, of_text("_"))
_GRAPH = union([(33, 126)])
_POSIX: Final[Mapping[str, Ranges]] = {
    "Lower": _LOWER,
    "Upper": _UPPER,
    "ASCII": union([(0, 127)]),
    "Alpha": _ALPHA,
    "Digit": DIGIT,
    "Alnum": union(_ALPHA, DIGIT),
    "Punct": of_text("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "Graph": _GRAPH,
    "Print": union(_GRAPH, of_text(" ")),
    "Blank": of_text(" \t"),
    "Cntrl": union([(0, 31), (127, 127)]),
    "XDigit": union(DIGIT, of_text("abcdefABCDEF")),
    "Space": SPACE,
}
_CATEGORIES: Final = tuple(
    first + second
    for first, seconds in {
        "L": "ultmo",
        "M": "nec",
        "N": "dlo",
        "Z": "slp",
        "C": "cfosn",
        "P": "dseocif",
        "S": "mcko",
    }.items()
    for second in seconds
)
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    **{first: tuple(each for each in _CATEGORIES if each[0] == first) for first in "LMNZCPS"},
    "LC": ("Lu", "Ll", "Lt"),
    "LD": ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"),
}
_WHITE_SPACE = union(SPACE, of_text("\x85"), HORIZONTAL, of_text("\u2028\u2029"))


def property_named(name: str, *, unicode_classes: bool) -> Ranges | None:
    """Return the characters of a property; None when Java knows none of that name.

    Args:
        name: What stands in the braces, with its prefix: `Lu`, `IsGreek`, `script=Greek`, `javaUpperCase`.
        unicode_classes: The flag U: POSIX names mean Unicode's properties.
    """
    key, equals, value = name.partition("=")
    if equals:
        return _by_key(key.lower(), value)
    if name.startswith("In"):
        return _table("block", name[2:])
    if name.startswith("Is"):
        bare = name[2:]
        return _first(_binary(bare), _category(bare), _table("script", bare))
    if unicode_classes and name in _POSIX:
        return _first(_binary(name), _POSIX[name])
    return _first(_POSIX.get(name), _category(name), _java(name))


def in_any_case(name: str, ranges: Ranges) -> Ranges:
    """Return what a property matches when case does not count: a property of letters' case loses it."""
    bare = name.partition("=")[2] or name.removeprefix("Is").removeprefix("java")
    if bare in ("Lu", "Ll", "Lt"):
        return union(_of("Lu"), _of("Ll"), _of("Lt"))
    if bare in ("Lower", "Upper") and not name.startswith("Is"):
        return union(ranges, _ALPHA)
    if bare.upper().replace("_", "") in ("LOWERCASE", "UPPERCASE", "TITLECASE"):
        return union(_those(str.islower), _those(str.isupper), _of("Lt"))
    return ranges


def word(*, unicode_classes: bool) -> Ranges:
    r"""Return what `\w` matches."""
    if not unicode_classes:
        return WORD
    marks = union(_of("Mn"), _of("Me"), _of("Mc"))
    return union(_table("binary", "ALPHABETIC") or (), marks, _of("Nd"), _of("Pc"), of_text("\u200c\u200d"))


def digit(*, unicode_classes: bool) -> Ranges:
    r"""Return what `\d` matches."""
    return _of("Nd") if unicode_classes else DIGIT


def space(*, unicode_classes: bool) -> Ranges:
    r"""Return what `\s` matches."""
    return _white_space() if unicode_classes else SPACE


def _first(*found: Ranges | None) -> Ranges | None:
    return next((each for each in found if each is not None), None)


def _by_key(key: str, value: str) -> Ranges | None:
    if key in ("sc", "script"):
        return _table("script", value)
    if key in ("blk", "block"):
        return _table("block", value)
    return _category(value) if key in ("gc", "general_category") else None


def _category(name: str) -> Ranges | None:
    if name == "all":
        return ((0, LAST_CODE_POINT),)
    if name == "L1":
        return ((0, 0xFF),)
    if name in _CATEGORIES:
        return _of(name)
    return union(*map(_of, _GROUPS[name])) if name in _GROUPS else None


@cache
def _categories() -> Mapping[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    start, last = 0, unicodedata.category("\0")
    for point in range(1, LAST_CODE_POINT + 2):
        category = unicodedata.category(chr(point)) if point <= LAST_CODE_POINT else ""
        if category != last:
            found.setdefault(last, []).append((start, point - 1))
            start, last = point, category
    return {name: tuple(ranges) for name, ranges in found.items()}


def _of(category: str) -> Ranges:
    return _categories()[category]


@cache
def _those(holds: Callable[[str], bool]) -> Ranges:
    return union((point, point) for point in range(LAST_CODE_POINT + 1) if holds(chr(point)))


def _white_space() -> Ranges:
    # U+180E counted as a blank until Unicode 6.3; horizontal space kept it.
    return union(each for each in _WHITE_SPACE if each != (0x180E, 0x180E))


def _binary(name: str) -> Ranges | None:
    known: Mapping[str, Callable[[], Ranges]] = {
        "ALPHABETIC": lambda: _table("binary", "ALPHABETIC") or (),
        "IDEOGRAPHIC": lambda: _table("binary", "IDEOGRAPHIC") or (),
        "LETTER": lambda: _category("L") or (),
        "LOWERCASE": lambda: _those(str.islower),
        "UPPERCASE": lambda: _those(str.isupper),
        "TITLECASE": lambda: _of("Lt"),
        "WHITE_SPACE": _white_space,
        "CONTROL": lambda: _of("Cc"),
        "PUNCTUATION": lambda: _category("P") or (),
        "HEX_DIGIT": lambda: union(_of("Nd"), _POSIX["XDigit"], [(0xFF21, 0xFF26), (0xFF41, 0xFF46)]),
        "ASSIGNED": lambda: complement(_of("Cn")),
        "DIGIT": lambda: _of("Nd"),
        "JOIN_CONTROL": lambda: of_text("\u200c\u200d"),
        "ALNUM": lambda: union(_table("binary", "ALPHABETIC") or (), _of("Nd")),
        "BLANK": lambda: union(_of("Zs"), of_text("\t")),
        "GRAPH": lambda: complement(union(_of("Zs"), _of("Zl"), _of("Zp"), _of("Cc"), _of("Cs"), _of("Cn"))),
    }
    aliases = {
        "ALPHA": "ALPHABETIC",
        "LOWER": "LOWERCASE",
        "UPPER": "UPPERCASE",
        "SPACE": "WHITE_SPACE",
        "WHITESPACE": "WHITE_SPACE",
        "PUNCT": "PUNCTUATION",
        "CNTRL": "CONTROL",
        "XDIGIT": "HEX_DIGIT",
        "HEXDIGIT": "HEX_DIGIT",
        "JOINCONTROL": "JOIN_CONTROL",
    }
    upper = name.upper()
    make = known.get(aliases.get(upper, upper))
    return None if make is None else make()


def _java(name: str) -> Ranges | None:
    methods: Mapping[str, Callable[[], Ranges]] = {
        "javaLowerCase": lambda: _those(str.islower),
        "javaUpperCase": lambda: _those(str.isupper),
        "javaTitleCase": lambda: _of("Lt"),
        "javaAlphabetic": lambda: _table("binary", "ALPHABETIC") or (),
        "javaIdeographic": lambda: _table("binary", "IDEOGRAPHIC") or (),
        "javaDigit": lambda: _of("Nd"),
        "javaLetter": lambda: _category("L") or (),
        "javaLetterOrDigit": lambda: union(_category("L") or (), _of("Nd")),
        "javaDefined": lambda: complement(_of("Cn")),
        "javaSpaceChar": lambda: _category("Z") or (),
        "javaWhitespace": lambda: union(
            (each for each in _white_space() if each not in ((0x85, 0x85), (0xA0, 0xA0))), [(0x1C, 0x1F)]
        ),
        "javaISOControl": lambda: ((0, 0x1F), (0x7F, 0x9F)),
        "javaMirrored": lambda: _those(lambda each: bool(unicodedata.mirrored(each))),
    }
    make = methods.get(name)
    return None if make is None else make()


@cache
def _tables() -> Mapping[tuple[str, str], str]:
    """Read the table: kind, names and ranges in hexadecimal digits, a line for each property."""
    found: dict[tuple[str, str], str] = {}
    for line in (files(__package__) / "unicode_properties.txt").read_text("utf-8").splitlines():
        head, ranges = line.split("|")
        kind, *names = head.split(" ")
        found |= {(kind, _plain(name)): ranges for name in names}
    return found


def _plain(name: str) -> str:
    return name.upper().replace("_", "").replace(" ", "").replace("-", "")


@cache
def _table(kind: str, name: str) -> Ranges | None:
    text = _tables().get((kind, _plain(name)))
    if text is None:
        return None
    pairs = (each.split("-") for each in text.split(","))
    return tuple((int(pair[0], 16), int(pair[-1], 16)) for pair in pairs)
