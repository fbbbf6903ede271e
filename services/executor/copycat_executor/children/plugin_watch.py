"""Which plugins must not be loaded: those that fail to, and those that end or hold up the process that does.

The process of the connectors reports each plugin before it loads it. When it then ends, or is silent for too
long, the plugin is to blame and the next process goes without it. Hosts go without it from the start.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Final

log = logging.getLogger(__name__)

#: One plugin may take this long to be imported, also on a busy machine.
LOAD_TIMEOUT_SECONDS: Final = 60.0
#: A process that ends may have been killed by something else, the first time.
DEATHS_TO_BLAME: Final = 2


class PluginWatch:
    """What one process after the other reports while it loads the plugins."""

    def __init__(self, failed: Mapping[str, str] | None = None) -> None:
        """Begin with what failed in another process."""
        self._failed = dict(failed or {})
        self._deaths: Counter[str] = Counter()
        self._current: str | None = None
        self._late: list[str] = []

    @property
    def under_way(self) -> bool:
        """Whether a plugin is being loaded now."""
        return self._current is not None

    @property
    def failed(self) -> Mapping[str, str]:
        """The entry points not to load, and why."""
        return dict(self._failed)

    @property
    def late(self) -> tuple[str, ...]:
        """The entry points that start threads when they are loaded: each copy loads them for itself."""
        return tuple(self._late)

    def starts_threads(self, entry_point: str) -> None:
        """Note that a plugin is not for the template, which ends."""
        log.info("the plugin %s starts threads when it is loaded: every process loads it anew", entry_point)
        self._current = None
        self._late.append(entry_point)

    def begins(self, entry_point: str) -> None:
        """Note which plugin is loaded next."""
        self._current = entry_point

    def finished(self, failed: Mapping[str, str]) -> None:
        """Note that all plugins were loaded but these."""
        self._current = None
        for entry_point, reason in failed.items():
            self._blame(entry_point, reason)

    def hangs(self) -> None:
        """Blame the plugin being loaded for not coming back."""
        if self._current is not None:
            self._blame(self._current, f"it was not loaded within {LOAD_TIMEOUT_SECONDS:g} s")
            self._current = None

    def process_ended(self, ending: str) -> None:
        """Note that the process is gone; the plugin being loaded may be the cause."""
        entry_point, self._current = self._current, None
        if entry_point is None:
            return
        self._deaths[entry_point] += 1
        if self._deaths[entry_point] >= DEATHS_TO_BLAME:
            self._blame(entry_point, f"it ended the process that loaded it ({ending})")

    def _blame(self, entry_point: str, reason: str) -> None:
        if entry_point not in self._failed:
            log.warning("the plugin %s is installed but cannot be loaded: %s", entry_point, reason)
        self._failed[entry_point] = reason
