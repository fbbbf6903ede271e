r"""Regular expressions as Java writes them, for an engine that reads Python's.

Java's syntax is read as `java.util.regex.Pattern` reads it, and written anew: classes and properties become
sets of characters, flags in the midst become flags of single atoms. `\b` knows ASCII words alone, as
since Java 19, unless the flag U is set. There is no counterpart of `\X` and `\G`. Size and depth are limited,
so that no expression takes long to read or to compile.
"""

from __future__ import annotations

import re
from typing import Final

from copycat_connect.config.java_escapes import Escapes
from copycat_connect.config.java_properties import Range, Ranges, complement, intersection, union


def _read_class(reader: Escapes) -> Ranges:
    """Read the class that opens at the reader's place; leaves it behind the closing bracket."""
    reader.place += 1
    negated = reader.take("^")
    operands: list[list[Range]] = [[]]
    while True:
        if reader.ended:
            raise reader.error("Unclosed character class", len(reader.pattern) - 1)
        if reader.at("]") and (len(operands) > 1 or operands[0]):
            reader.place += 1
            break
        if reader.take("&&"):
            operands.append([])
            continue
        found = _read_class(reader) if reader.at("[") else _item(reader)
        reader.count(found)
        operands[-1].extend(found)
    given = [union(each) for each in operands if each]
    if not given:
        raise reader.error("Bad class syntax", reader.place - 2)
    result = given[0]
    for each in given[1:]:
        result = intersection(result, each)
    return complement(result) if negated else result


def _item(reader: Escapes) -> Ranges:
    low = reader.class_point()
    if not isinstance(low, int):
        return low
    following = reader.pattern[reader.place + 1 : reader.place + 2]
    if reader.at("-") and following not in ("[", "]"):
        reader.place += 1
        if reader.ended:
            raise reader.error("Illegal character range", reader.place)
        high = reader.class_point()
        if not isinstance(high, int) or high < low:
            raise reader.error("Illegal character range", reader.place - 1)
        return reader.cased(((low, high),))
    return reader.cased(((low, low),))


MAX_PATTERN_CHARACTERS: Final = 100_000
"""Of an expression; thousands of names side by side have fewer."""
#: Each counts twice in what the engine compiles.
_MAX_NESTED_REPETITIONS: Final = 10
_FLAGS = "idmsuxU"
_ENDS = r"\n\r\x85\u2028\u2029"
_GROUP = re.compile(
    r"\(\?(?:(?P<kind>[:=!>]|<[=!])|<(?P<name>[^>]*)(?P<closed>>?)|(?P<on>[a-zA-Z]*)(?P<off>-[a-zA-Z]*)?)"
)
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9]*\Z")
_CLOSURE = re.compile(r"[*+?]|\{(\d+)(,(\d*))?\}")


class Translator(Escapes):
    """Reads one expression; use once."""

    def translate(self) -> str:
        """Return the expression in Python's writing."""
        found = self._alternatives()
        if not self.ended:
            raise self.error("Unmatched closing ')'", self.place - 1)
        return found

    def _alternatives(self) -> str:
        parts = [self._sequence()]
        while self.take("|"):
            parts.append(self._sequence())
        return "|".join(parts)

    def _sequence(self) -> str:
        parts: list[str] = []
        while not self.ended and self.pattern[self.place] not in "|)":
            if "x" in self.flags and self._skip_comment():
                continue
            deepest, self.repetitions = self.repetitions, 0
            atom = self._atom()
            if atom is not None:
                parts.append(self._closed(atom))
            self.repetitions = max(deepest, self.repetitions)
        return "".join(parts)

    def _skip_comment(self) -> bool:
        if self.take("#"):
            while not self.ended and self.pattern[self.place] not in "\n\r\x85\u2028\u2029":
                self.place += 1
            return True
        if self.pattern[self.place] in " \t\n\x0b\f\r":
            self.place += 1
            return True
        return False

    def _atom(self) -> str | None:
        character = self.pattern[self.place]
        match character:
            case "(":
                return self._group()
            case "[":
                return self.written(_read_class(self))
            case "\\":
                return self.escape()
            case "*" | "+" | "?":
                raise self.error(f"Dangling meta character '{character}'", self.place)
            case "{":
                return "(?:)"
            case _:
                self.place += 1
                return self._plain(character)

    def _plain(self, character: str) -> str:
        ends = r"\n" if "d" in self.flags else _ENDS
        if character == ".":
            return r"[\s\S]" if "s" in self.flags else f"[^{ends}]"
        if character == "^":
            return rf"(?:\A|(?<=[{ends}])(?<!\r(?=\n)))(?!\Z)" if "m" in self.flags else r"\A"
        if character != "$":
            return self.literal(character)
        if "d" in self.flags:
            return r"(?=\n|\Z)" if "m" in self.flags else r"(?=\n?\Z)"
        inside = f"(?=[{ends}]|\\Z)" if "m" in self.flags else f"(?=(?:\\r\\n|[{ends}])?\\Z)"
        return rf"(?:{inside}(?<!\r(?=\n)))"

    def _closed(self, atom: str) -> str:
        """Return an atom with the quantifier that follows it."""
        if "x" in self.flags:
            while not self.ended and self._skip_comment():
                pass
        found = _CLOSURE.match(self.pattern, self.place)
        if found is None:
            if self.at("{"):
                raise self._bad_repetition()
            return atom
        self.place = found.end()
        if found[3] and int(found[3]) < int(found[1]):
            raise self.error("Illegal repetition range", self.place - 1)
        kind = next((each for each in "?+" if self.take(each)), "")
        self.repetitions += 1
        if self.repetitions > _MAX_NESTED_REPETITIONS:
            raise self.error(f"More than {_MAX_NESTED_REPETITIONS} repetitions in each other", self.place - 1)
        return "(?:)" if atom == "(?:)" else f"(?:{atom}){found[0]}{kind}"

    def _bad_repetition(self) -> re.error:
        rest = re.compile(r"\{\d+(,\d*)?").match(self.pattern, self.place)
        if rest is None:
            return self.error("Illegal repetition", self.place + 1)
        return self.error("Unclosed counted closure", rest.end())

    def _group(self) -> str | None:
        saved = self.flags
        if not self.pattern.startswith("(?", self.place):
            self.place += 1
            self.groups += 1
            return self._body("(", saved)
        found = _GROUP.match(self.pattern, self.place)
        if found is None:  # not reached: flags may be empty
            raise self.error("Unknown inline modifier", self.place + 2)
        self.place = found.end()
        if found["kind"]:
            return self._look(found["kind"], saved)
        if found["name"] is not None:
            return self._body(f"(?P<{self._name(found)}>", saved)
        return self._flags(found, saved)

    def _look(self, kind: str, saved: frozenset[str]) -> str:
        before, self.refers = self.refers, False
        body = self._body(f"(?{kind}", saved)
        if self.refers and kind.startswith("<"):
            raise self.error("Look-behind group does not have an obvious maximum length", self.place - 2)
        self.refers = self.refers or before
        return body

    def _name(self, found: re.Match[str]) -> str:
        name = found["name"]
        if not name or not name[0].isascii() or not name[0].isalpha():
            raise self.error("capturing group name does not start with a Latin letter", found.start("name"))
        if not found["closed"] or not _NAME.match(name):
            bad = re.compile("[a-zA-Z0-9]*").match(self.pattern, found.start("name"))
            end = found.start("name") if bad is None else bad.end()
            raise self.error("named capturing group is missing trailing '>'", end)
        if name in self.names:
            raise self.error(f"Named capturing group <{name}> is already defined", found.end() - 1)
        self.groups += 1
        self.names.add(name)
        return str(name)

    def _flags(self, found: re.Match[str], saved: frozenset[str]) -> str | None:
        on, off = found["on"], (found["off"] or "")[1:]
        start = found.start("on")
        for offset, flag in enumerate(on + ("-" if found["off"] else "") + off):
            if flag not in _FLAGS + "-":
                raise self.error("Unknown inline modifier", start + offset)
        given = set(on) | ({"u"} if "U" in on else set())
        self.flags = (self.flags | given) - set(off) - ({"u"} if "U" in off else set())
        if self.take(")"):
            return None
        if not self.take(":"):
            raise self.error("Unknown inline modifier", self.place)
        return self._body("(?:", saved)

    def _body(self, opening: str, saved: frozenset[str]) -> str:
        inside = self._alternatives()
        if not self.take(")"):
            raise self.error("Unclosed group", len(self.pattern))
        self.flags = saved
        return f"{opening}{inside})"


def translate_java_regex(pattern: str) -> str:
    """Return an expression written for Java in Python's writing.

    Raises:
        re.error: It is not one, in Java's words; or it has no counterpart here, or is too large.
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise re.error(f"the expression is too large: it has more than {MAX_PATTERN_CHARACTERS} characters")
    try:
        return Translator(pattern).translate()
    except (RecursionError, ValueError) as error:  # a number of thousands of digits is a wrong value
        raise re.error(f"the expression is too large: {error}") from error
