"""Java properties files, read and written without any library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from copycat_connect.errors import ConfigError

_BLANK = " \t\f"
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"((?:\\.|[^\\:= \t\f])*)[ \t\f]*(?:[:=][ \t\f]*)?", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\n|\r")
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
_ESCAPED_IN_KEYS = {**_ESCAPED, " ": "\\ ", ":": "\\:", "=": "\\="}


def parse_properties(text: str) -> dict[str, str]:
    """Read the text of a properties file; of a key given twice the last value counts.

    Raises:
        ConfigError: An escape is malformed; the text has nothing of the value, which may be secret.
    """
    pairs = {}
    for number, line in enumerate(_logical_lines(text), 1):
        found = _KEY.match(line)
        assert found is not None  # it matches the empty text too
        key = _unescape(found[1], f"the key of entry {number}")
        pairs[key] = _unescape(line[found.end() :], f"the value of {key}")
    return pairs


def format_properties(properties: Mapping[str, str], comment: str = "") -> str:
    """Write a text that a Java program and `parse_properties` understand alike."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [f"{_escaped_key(key)}={_escaped_value(value)}" for key, value in properties.items()]
    return "".join(f"{line}\n" for line in lines)


def _escaped_key(text: str) -> str:
    escaped = "".join(_ESCAPED_IN_KEYS.get(character, character) for character in text)
    return f"\\{escaped}" if escaped.startswith(("#", "!")) else escaped


def _escaped_value(text: str) -> str:
    escaped = "".join(_ESCAPED.get(character, character) for character in text)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped  # leading blanks would be skipped


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines with continuations joined, without comments and blank lines."""
    joined = ""
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANK)
        if not joined and (not line or line[0] in "#!"):
            continue
        trailing = len(line) - len(line.rstrip("\\"))
        if trailing % 2:
            joined += line[:-1]
            continue
        yield joined + line
        joined = ""
    if joined:
        yield joined


def _unescape(text: str, what: str) -> str:
    def replace(match: re.Match[str]) -> str:
        escape = match[1]
        if escape == "u":
            raise ConfigError(
                rf"Malformed \uxxxx encoding in a properties file, in {what}: \u wants four hexadecimal "
                r"digits behind it; a backslash that is meant as one is written \\"
            )
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _NAMED.get(escape, escape)

    return _ESCAPE.sub(replace, text) if "\\" in text else text
