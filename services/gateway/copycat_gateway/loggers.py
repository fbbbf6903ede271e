"""The levels of this process's own loggers, in Kafka Connect's words."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.log_levels import ROOT, level_name
from copycat_telemetry.loggers import existing_loggers, set_level

OURS: Final = "copycat_"


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """The level of one logger."""

    level: str
    """A name in `copycat_connect.log_levels.LEVELS`."""
    last_modified: int | None
    """When a request last changed it, milliseconds since the epoch."""


class WorkerLoggers:
    """Reads and sets levels; remembers when it set which."""

    def __init__(self) -> None:
        self._modified: dict[str, int] = {}

    def all(self) -> dict[str, LoggerLevel]:
        """Return by name: root, our own loggers, and those of libraries that have a level of their own."""
        shown = {
            name
            for name in existing_loggers()
            if name.startswith(OURS) or logging.getLogger(name).level != logging.NOTSET
        }
        return {name: self._shown(name) for name in sorted({*shown, ROOT})}

    def get(self, name: str) -> LoggerLevel | None:
        """Return the level in force for a logger; None when there is no such logger."""
        if name.lower() == ROOT:
            return self._shown(ROOT)
        return self._shown(name) if name in existing_loggers() else None

    def set(self, prefix: str, level: str) -> Sequence[str]:
        """Set the level of every logger whose name starts so; returns the names of those it changed."""
        changed = set_level(prefix, level)
        now = time.time_ns() // 1_000_000
        self._modified.update(dict.fromkeys(changed, now))
        return changed

    def _shown(self, name: str) -> LoggerLevel:
        return LoggerLevel(level_name(logging.getLogger(name).getEffectiveLevel()), self._modified.get(name))
