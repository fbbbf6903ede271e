"""The columns that tables are followed by, where each table may have its own: entries `regex:column`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern
from copycat_connect.errors import ConfigError

from copycat_jdbc.errors import WrongSetting

_SEVERAL = re.compile(r"\[(.*)\]\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which columns count for which tables."""

    key: str
    """The key it was written for, for texts."""
    entries: tuple[tuple[UserPattern, tuple[str, ...]], ...]
    """Expressions for whole names, with the columns."""

    @classmethod
    def parse(cls, key: str, entries: Iterable[str], *, several: bool) -> ColumnMapping:
        """Read entries; `several` of them say `regex:[column1|column2]`.

        Raises:
            ConfigError: One is malformed.
        """
        return cls(key, tuple(_entry(key, entry, several=several) for entry in entries))

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of a table by its whole names.

        Raises:
            WrongSetting: No entry is for it, or several are.
        """
        found = {
            columns for pattern, columns in self.entries if any(pattern.fullmatch(name) for name in names)
        }
        if len(found) != 1:
            text = "several entries" if found else "no entry"
            raise WrongSetting(f"{self.key} has {text} for table {names[0]}: exactly one must match")
        return found.pop()


def _entry(key: str, entry: str, *, several: bool) -> tuple[UserPattern, tuple[str, ...]]:
    expression, colon, columns = entry.rpartition(":")
    form = "regex:[column1|column2]" if several else "regex:column"
    listed = _SEVERAL.match(columns.strip()) if several else None
    names = tuple(name.strip() for name in (listed[1].split("|") if listed else [columns]))
    wrong = not all(names) or (several and listed is None) or not expression
    if not colon or wrong:
        raise ConfigError(f"Invalid value {entry} for configuration {key}: expected {form}", key=key)
    try:
        return compile_user_pattern(key, expression), names
    except re.error as error:
        raise ConfigError(
            f"Invalid value {entry} for configuration {key}: invalid regex {expression}: {error}", key=key
        ) from error
