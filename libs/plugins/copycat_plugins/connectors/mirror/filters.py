"""Lists of names and regular expressions that say which topics, groups or properties are copied."""

from __future__ import annotations

import re
from collections.abc import Sequence

from copycat_connect.config.java_regex import compile_java_regex
from copycat_connect.errors import ConfigError


class NameFilter:
    """Takes whole names that one of the included patterns matches and none of the excluded ones."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Take the patterns; none included takes no name at all.

        Raises:
            re.error: A pattern is none.
        """
        self._include = [compile_java_regex(each) for each in include]
        self._exclude = [compile_java_regex(each) for each in exclude]

    def takes(self, name: str) -> bool:
        """Tell whether the name is chosen."""
        return _matches(self._include, name) and not _matches(self._exclude, name)


def patterns(name: str, value: object) -> None:
    """Refuse a list with an entry that is no regular expression (a validator of keys).

    Raises:
        ConfigError: One is none.
    """
    for each in value if isinstance(value, list) else []:
        try:
            compile_java_regex(each)
        except re.error as error:
            message = f"Invalid value {each} for configuration {name}: it is no regular expression: {error}"
            raise ConfigError(message, key=name) from error


def _matches(compiled: Sequence[re.Pattern[str]], name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in compiled)
