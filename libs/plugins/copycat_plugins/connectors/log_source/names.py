"""Which log a file belongs to, by its name: `app.log`, `app.log.1` and `app.log-20261123.gz` are one log."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

from copycat_connect.config.user_pattern import compile_user_pattern

ARCHIVES = (".gz", ".zst")
_NUMBER = re.compile(r"\.(\d{1,3})\Z")


class LogNames:
    """Tells logs by an expression for the names that rotation gives."""

    def __init__(self, key: str, rotated: str) -> None:
        """Use the expression of a key, as Java writes them; its groups together are the name of the log."""
        matched = compile_user_pattern(key, rotated).fullmatch

        def log_of(name: str) -> str:
            found = matched(plain_name(name))
            return plain_name(name) if found is None else "".join(filter(None, found.groups()))

        self.log_of = lru_cache(maxsize=1 << 16)(log_of)
        """Returns the name of the log that a file of a name belongs to."""


def is_archive(name: str) -> bool:
    """Tell whether a file of this name is compressed."""
    return name.endswith(ARCHIVES)


def plain_name(name: str) -> str:
    """Return a name without the ending of a compressed file."""
    return PurePath(name).stem if is_archive(name) else name


def age_by_number(name: str) -> int:
    """Return the number that rotation gave a file, where higher is older; 0 without one."""
    found = _NUMBER.search(plain_name(name))
    return 0 if found is None else int(found[1])
