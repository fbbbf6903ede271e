r"""What a backslash begins in Java's regular expressions: characters, sets, boundaries and references."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from copycat_connect.config.java_properties import (
    HORIZONTAL,
    VERTICAL,
    Range,
    Ranges,
    complement,
    digit,
    in_any_case,
    of_text,
    property_named,
    space,
    without_case,
    word,
    written,
)

#: The letters of all scripts are 600, and each takes the engine two microseconds.
_MAX_RANGES: Final = 100_000
_CONTROLS: Final = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}
_HEX = re.compile(r"x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\})|u([0-9a-fA-F]{4})")
_OCTAL = re.compile(r"0([0-3][0-7]{2}|[0-7]{1,2})")
_PROPERTY = re.compile(r"([pP])(?:\{([^}]*)(\}?)|(.))", re.DOTALL)
_CHARACTER_NAME = re.compile(r"N\{([^}]*)\}")
_REFERENCE = re.compile(r"k<([a-zA-Z][a-zA-Z0-9]*)>")
_QUOTED = re.compile(r"\\Q(?P<text>.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_SPECIAL = re.compile(r"[\x00-/:-@\[-`{-\x7f]")
_LINE_END = r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])"
_NO_COUNTERPART: Final = frozenset("XG")


def without_quotes(pattern: str) -> str:
    r"""Return an expression with a backslash before each special character between `\Q` and `\E`."""
    place, parts = 0, []
    for found in _QUOTED.finditer(pattern):
        if found["text"] is None:
            continue
        parts += [pattern[place : found.start()], _quoted(found["text"])]
        place = found.end()
    return "".join([*parts, pattern[place:]])


def _quoted(text: str) -> str:
    if text[:1] in frozenset("0123456789"):
        # After a backslash that stands before the quotation it must stay a digit of its own.
        return f"\\x3{text[0]}" + _SPECIAL.sub(r"\\\g<0>", text[1:])
    return _SPECIAL.sub(r"\\\g<0>", text)


class Escapes:
    """A place in an expression, with the flags and groups known there."""

    def __init__(self, pattern: str) -> None:
        """Begin at the start of an expression."""
        self._given = pattern
        self.pattern = without_quotes(pattern)
        r"""What is read: the expression, with backslashes in place of `\Q` and `\E`."""
        self.place = 0
        self.flags: frozenset[str] = frozenset()
        """Flags in force, by their letters."""
        self.groups = 0
        """How many capturing groups have opened."""
        self.repetitions = 0
        """How many repetitions are in each other in what was read last."""
        self.refers = False
        """Whether what was read last refers to a group, whose length nobody knows."""
        self._ranges = 0
        self.names: set[str] = set()
        """Names of groups."""

    @property
    def ended(self) -> bool:
        """True when nothing is left."""
        return self.place >= len(self.pattern)

    def at(self, text: str) -> bool:
        """Return whether a text stands at the place."""
        return self.pattern.startswith(text, self.place)

    def take(self, text: str) -> bool:
        """Go behind a text if it stands at the place."""
        if not self.at(text):
            return False
        self.place += len(text)
        return True

    def error(self, reason: str, index: int) -> re.error:
        """Return the failure as Java words it."""
        near = f" near index {index}" if index >= 0 else ""
        mark = "\n" + " " * index + "^" if 0 <= index < len(self._given) else ""
        return re.error(f"{reason}{near}\n{self._given}{mark}")

    def written(self, ranges: Ranges) -> str:
        """Return a set as a class of Python's.

        Raises:
            re.error: All sets together have more ranges than an expression may have.
        """
        self.count(ranges)
        return written(ranges)

    def count(self, ranges: Sequence[Range]) -> None:
        """Count the ranges of a set.

        Raises:
            re.error: All sets together have more ranges than an expression may have.
        """
        self._ranges += len(ranges)
        if self._ranges > _MAX_RANGES:
            raise self.error("The classes of characters are too large", self.place)

    def literal(self, character: str) -> str:
        """Return an expression of one character, in any case if that is wanted."""
        if "i" not in self.flags:
            return re.escape(character)
        return self.written(self.cased(of_text(character)))

    def cased(self, ranges: Ranges) -> Ranges:
        """Return a set, with letters of the other case if that is wanted."""
        if "i" not in self.flags:
            return ranges
        return without_case(ranges, unicode_case="u" in self.flags)

    def escape(self) -> str:
        """Return the expression that the backslash at the place begins."""
        letter = self.pattern[self.place + 1 : self.place + 2]
        boundary = self._boundary(letter)
        if boundary is not None:
            self.place += 2
            return boundary
        if letter and letter in "123456789":
            return self._numbered()
        if letter == "k":
            return self._named()
        point = self.class_point()
        if isinstance(point, int):
            return self.literal(chr(point))
        return self.written(point)

    def class_point(self) -> int | Ranges:
        """Read a character or a set of them, as it stands inside of a class."""
        character = self.pattern[self.place]
        if character != "\\":
            self.place += 1
            return ord(character)
        letter = self.pattern[self.place + 1 : self.place + 2]
        named = self._set(letter)
        if named is not None:
            self.place += 2
            return complement(named) if letter.isupper() else named
        if letter in ("p", "P"):
            return self._property()
        return self._character(letter)

    def _boundary(self, letter: str) -> str | None:
        if letter and letter in _NO_COUNTERPART:
            raise self.error(f"\\{letter} has no counterpart in this engine", self.place + 1)
        if letter in ("b", "B"):
            return f"\\{letter}" if "U" in self.flags else f"(?a:\\{letter})"
        ends = {"A": r"\A", "z": r"\Z", "Z": r"(?=(?:\r\n|[\n\r\x85\u2028\u2029])?\Z)", "R": _LINE_END}
        return ends.get(letter)

    def _set(self, letter: str) -> Ranges | None:
        unicode_classes = "U" in self.flags
        match letter:
            case "d" | "D":
                return digit(unicode_classes=unicode_classes)
            case "s" | "S":
                return space(unicode_classes=unicode_classes)
            case "w" | "W":
                return word(unicode_classes=unicode_classes)
            case "h" | "H":
                return HORIZONTAL
            case "v" | "V":
                return VERTICAL
            case _:
                return None

    def _property(self) -> Ranges:
        found = _PROPERTY.match(self.pattern, self.place + 1)
        if found is None:
            raise self.error("Illegal/unsupported escape sequence", self.place + 1)
        if found[2] is not None and not found[3]:
            raise self.error("Unclosed character family", len(self.pattern))
        name = found[4] or found[2]
        if not name:
            raise self.error("Empty character family", found.end() - 1)
        ranges = property_named(name, unicode_classes="U" in self.flags)
        if ranges is None:
            raise self.error(_unknown(name), found.end() - 1)
        if "i" in self.flags:
            ranges = in_any_case(name, ranges)
        self.place = found.end()
        return complement(ranges) if found[1] == "P" else ranges

    def _character(self, letter: str) -> int:
        point, length = self._point(letter)
        if point is None:
            raise self.error("Illegal/unsupported escape sequence", self.place + 1)
        self.place += length
        return point

    def _point(self, letter: str) -> tuple[int | None, int]:
        """Return the character an escape stands for, and how long the escape is."""
        after = self.place + 1
        if letter in _CONTROLS:
            found: tuple[int | None, int] = (_CONTROLS[letter], 2)
        elif letter in ("x", "u"):
            found = self._hexadecimal(after)
        elif letter in ("c", "0", "N"):
            found = self._spelt(letter, after)
        elif not letter:
            raise self.error("Unexpected internal error", after)
        else:
            found = (None, 0) if letter.isascii() and letter.isalnum() else (ord(letter), 2)
        return found

    def _spelt(self, letter: str, after: int) -> tuple[int | None, int]:
        """Read a control character by its letter, a character by octal digits or by its name."""
        if letter == "c":
            if after + 1 >= len(self.pattern):
                raise self.error("Illegal control escape sequence", after)
            return ord(self.pattern[after + 1]) ^ 64, 3
        if letter == "0":
            octal = _OCTAL.match(self.pattern, after)
            if octal is None:
                raise self.error("Illegal octal escape sequence", after + 1)
            return int(octal[1], 8), len(octal[0]) + 1
        named = _CHARACTER_NAME.match(self.pattern, after)
        if named is None:
            raise self.error("Illegal character name escape sequence", after)
        return self._by_name(named), len(named[0]) + 1

    def _hexadecimal(self, after: int) -> tuple[int | None, int]:
        found = _HEX.match(self.pattern, after)
        if found is None:
            kind, digits = ("hexadecimal", 1) if self.pattern[after] == "x" else ("Unicode", 3)
            read = re.compile(f"[0-9a-fA-F]{{0,{digits}}}").match(self.pattern, after + 1)
            raise self.error(f"Illegal {kind} escape sequence", after + 1 if read is None else read.end())
        point = int(found[1] or found[2] or found[3], 16)
        if point > 0x10FFFF:
            raise self.error("Hexadecimal codepoint is too big", found.end() - 2)
        return point, len(found[0]) + 1

    def _by_name(self, named: re.Match[str]) -> int:
        try:
            return ord(unicodedata.lookup(named[1]))
        except KeyError:
            raise self.error(f"Unknown character name [{named[1]}]", named.end() - 1) from None

    def _numbered(self) -> str:
        """Read a reference; it takes as many digits as there are groups for."""
        place = self.place + 1
        group, place = int(self.pattern[place]), place + 1
        while place < len(self.pattern) and self.pattern[place] in "0123456789":
            longer = group * 10 + int(self.pattern[place])
            if longer > self.groups:
                break
            group, place = longer, place + 1
        self.place = place
        # A group that has not opened yet never matches.
        return self._reference(f"\\{group}") if group <= self.groups else "(?!)"

    def _named(self) -> str:
        found = _REFERENCE.match(self.pattern, self.place + 1)
        if found is None:
            raise self.error("\\k is not followed by '<' for named capturing group", self.place + 2)
        if found[1] not in self.names:
            raise self.error(f"named capturing group <{found[1]}> does not exist", found.end() - 1)
        self.place = found.end()
        return self._reference(f"(?P={found[1]})")

    def _reference(self, reference: str) -> str:
        self.refers = True
        if "i" not in self.flags:
            return f"(?:{reference})"
        return f"(?i:{reference})" if "u" in self.flags else f"(?ai:{reference})"


def _unknown(name: str) -> str:
    key, equals, value = name.partition("=")
    if equals:
        return f"Unknown Unicode property {{name=<{key}>, value=<{value}>}}"
    return f"Unknown character property name {{{name}}}"
