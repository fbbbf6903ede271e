"""Lists of names and regular expressions that say which topics, groups or properties are copied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern
from copycat_connect.errors import ConfigError

#: Topics, groups and properties are looked at again and again.
_REMEMBERED_NAMES: Final = 1 << 16


class NameFilter:
    """Takes whole names that one of the included patterns matches and none of the excluded ones."""

    def __init__(
        self, include: Mapping[str, Sequence[str]] | None, exclude: Mapping[str, Sequence[str]]
    ) -> None:
        """Use the patterns by the keys that have them; no pattern takes no name, None includes every one.

        Raises:
            re.error: A pattern is malformed.
        """
        self._include = None if include is None else _compiled(include)
        self._exclude = _compiled(exclude)

        self.takes = lru_cache(maxsize=_REMEMBERED_NAMES)(self._takes)
        """Tells whether a name is chosen; raises PatternTooSlowError where a pattern does not end."""

    def _takes(self, name: str) -> bool:
        included = self._include is None or _matches(self._include, name)
        return included and not _matches(self._exclude, name)


def patterns(name: str, value: object) -> None:
    """Refuse a list with an entry that is no regular expression (a validator of keys).

    Raises:
        ConfigError: One is malformed.
    """
    for each in value if isinstance(value, list) else []:
        try:
            compile_user_pattern(name, each)
        except re.error as error:
            raise ConfigError(
                f"Invalid value {each} for configuration {name}: it is no regular expression: {error}",
                key=name,
            ) from error


def _compiled(written: Mapping[str, Sequence[str]]) -> list[UserPattern]:
    return [compile_user_pattern(key, each) for key, patterns in written.items() for each in patterns]


def _matches(compiled: Sequence[UserPattern], name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in compiled)
