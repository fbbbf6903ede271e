"""Replacements as Java's `Matcher.replaceFirst` reads them: `$1`, `${name}`, and what a backslash escapes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copycat_connect.errors import DataError

if TYPE_CHECKING:
    from copycat_connect.config.user_pattern import UserMatch

_NAME = re.compile(r"\$\{([a-zA-Z0-9]*)(\}?)")
_PLAIN = re.compile(r"[^\\$]+")


def expand(replacement: str, found: UserMatch) -> str:
    """Return a replacement with the groups of a match filled in.

    Raises:
        DataError: Java refuses the replacement, e.g. because it ends in `$` or a backslash, or names a group
            that does not exist. The texts are Java's.
    """
    parts, place = [], 0
    while place < len(replacement):
        plain = _PLAIN.match(replacement, place)
        if plain is not None:
            part, place = plain[0], plain.end()
        elif replacement[place] == "\\":
            part, place = _escaped(replacement, place + 1)
        elif replacement.startswith("${", place):
            part, place = _named(replacement, place, found)
        else:
            part, place = _numbered(replacement, place + 1, found)
        parts.append(part)
    return "".join(parts)


def _escaped(replacement: str, place: int) -> tuple[str, int]:
    if place == len(replacement):
        raise DataError("character to be escaped is missing")
    return replacement[place], place + 1


def _named(replacement: str, place: int, found: UserMatch) -> tuple[str, int]:
    reference = _NAME.match(replacement, place)
    name, closed = ("", "") if reference is None else (reference[1], reference[2])
    if not name:
        raise DataError("named capturing group has 0 length name")
    if not closed:
        raise DataError("named capturing group is missing trailing '}'")
    if name[0].isdigit():
        raise DataError(f"capturing group name {{{name}}} starts with digit character")
    if name not in found.re.groupindex:
        raise DataError(f"No group with name {{{name}}}")
    return found[name] or "", place + len(name) + 3


def _numbered(replacement: str, place: int, found: UserMatch) -> tuple[str, int]:
    if place == len(replacement):
        raise DataError("Illegal group reference: group index is missing")
    if not _is_digit(replacement[place]):
        raise DataError("Illegal group reference")
    group, place = int(replacement[place]), place + 1
    # As many digits as there are groups for.
    while place < len(replacement) and _is_digit(replacement[place]):
        longer = group * 10 + int(replacement[place])
        if longer > found.re.groups:
            break
        group, place = longer, place + 1
    if group > found.re.groups:
        raise DataError(f"No group {group}")
    return found[group] or "", place


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"
