"""Regular expressions as Java writes them, for Python's engine.

What differs in writing is translated: named groups, quoting, character classes and a few escapes.
"""

from __future__ import annotations

import re

from copycat_connect.config.java_class import translate_class
from copycat_connect.config.key import Validator
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting

# Contents of a character class, so that each works inside of brackets too.
_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7F",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1F\x7F",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0B\f\r",
}
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)"
    r"|\\(?P<posix>[pP])\{(?:Is)?(?P<name>\w+)\}"
    r"|\\k<(?P<reference>\w+)>"
    r"|\\(?P<escape>.)"
    r"|\(\?<(?P<group>[a-zA-Z]\w*)>",
    re.DOTALL,
)
_ESCAPES = {"z": r"\Z", "Z": r"(?=\n?\Z)", "h": r"[ \t\xA0]", "R": r"(?:\r\n|[\n\x0B\f\r\x85\u2028\u2029])"}


def compile_java_regex(pattern: str) -> re.Pattern[str]:
    """Compile an expression written for Java; match with `fullmatch` where Java says `matches`.

    Raises:
        re.error: It is not one, or has no counterpart here.
    """
    parts, place = [], 0
    while place < len(pattern):
        if pattern[place] == "[":
            part, place = translate_class(pattern, place, lambda at: _token(pattern, at, inside=True))
        else:
            part, place = _token(pattern, place, inside=False)
        parts.append(part)
    # Java reads \d and \w as ASCII.
    return re.compile("".join(parts), re.ASCII)


def _token(pattern: str, place: int, *, inside: bool) -> tuple[str, int]:
    """Translate what stands at a place; also returns the place behind it."""
    token = _TOKEN.match(pattern, place)
    if token is None:
        return pattern[place], place + 1
    return _translate(token, inside=inside), token.end()


def _translate(token: re.Match[str], *, inside: bool) -> str:
    if token["quoted"] is not None:
        text = re.escape(token["quoted"])
    elif token["posix"]:
        text = _posix(token, inside=inside)
    elif token["reference"]:
        text = f"(?P={token['reference']})"
    elif token["group"]:
        text = f"(?P<{token['group']}>"
    else:
        text = _ESCAPES.get(token["escape"], token[0]) if not inside or token["escape"] == "h" else token[0]
    return text


def _posix(token: re.Match[str], *, inside: bool) -> str:
    contents = _POSIX.get(token["name"])
    if contents is None:
        message = f"unknown character property {token['name']}"
        raise re.error(message, token.string, token.start())
    if inside and token["posix"] == "p":
        return contents
    return f"[^{contents}]" if token["posix"] == "P" else f"[{contents}]"


def _check(name: str, value: ConfigSetting) -> None:
    if value is None:
        # Kafka's validator fails on it too, so that a missing expression counts twice.
        raise invalid_value(name, None, "Invalid regex: there is none")
    try:
        compile_java_regex(value)
    except re.error as error:
        reason = f"Invalid regex: {error}"
        raise invalid_value(name, value, reason) from error


matches_java_regex: Validator = _check
"""Accepts regular expressions as Java writes them; refuses null."""
