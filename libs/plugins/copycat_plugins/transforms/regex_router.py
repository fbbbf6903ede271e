"""RegexRouter: renames topics by a regular expression.

The replacement is read as Java's `Matcher.replaceFirst` does: `$1`, `${name}`, and what a backslash escapes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, matches_java_regex
from copycat_connect.config.settings import Settings, key
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import ConnectRecord
from copycat_connect.errors import DataError
from copycat_connect.plugin import Transformation

from copycat_plugins.transforms.sides import plain_plugin

R = TypeVar("R", bound=ConnectRecord)
_REGEX = "regex"
_MAX_REMEMBERED_TOPICS = 1000
_NAME = re.compile(r"\$\{([a-zA-Z0-9]*)(\}?)")
_PLAIN = re.compile(r"[^\\$]+")


class RegexRouterSettings(Settings):
    """Which topics are renamed, and how."""

    regex: str = key(
        HIGH, name=_REGEX, check=matches_java_regex, doc="Expression that the whole topic must match."
    )
    replacement: str = key(HIGH, doc="New topic; $1 stands for the first group.")


class RegexRouter(Transformation):
    """Sends records whose topic matches to another one."""

    def configure(self, config: Config) -> None:
        """Use the expression and the replacement."""
        settings = RegexRouterSettings.parse(config)
        self._regex = compile_user_pattern(_REGEX, settings.regex)
        self._replacement = settings.replacement
        # Most tasks see few topics.
        self._known: dict[str, str] = {}

    def apply(self, record: R) -> R | None:
        """Return the record with its new topic."""
        return record.replace(topic=self._route(record.topic))

    def apply_in_place(self, record: R) -> R | None:
        """Change the topic of the record."""
        record.topic = self._route(record.topic)
        return record

    def _route(self, topic: str) -> str:
        known = self._known.get(topic)
        if known is None:
            if len(self._known) >= _MAX_REMEMBERED_TOPICS:
                self._known.clear()
            known = self._known[topic] = self._renamed(topic)
        return known

    def _renamed(self, topic: str) -> str:
        # What is found first may be less than the whole, which is how Java replaces.
        if self._regex.fullmatch(topic) is None or (found := self._regex.search(topic)) is None:
            return topic
        return topic[: found.start()] + expand(self._replacement, found) + topic[found.end() :]


if TYPE_CHECKING:
    from copycat_connect.config.user_pattern import UserMatch


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


PLUGIN = plain_plugin(
    RegexRouter,
    "RegexRouter",
    "Renames topics by a regular expression.",
    RegexRouterSettings.config_def(),
    {"Without a suffix": {"regex": "(.*)-raw", "replacement": "$1"}},
)
