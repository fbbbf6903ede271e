"""The levels of this process's own loggers, in Kafka Connect's words."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ROOT: Final = "root"
LEVELS: Final = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG - 5,
    "ALL": 1,
}


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """The level of one logger."""

    level: str
    """One of `LEVELS`."""
    last_modified: int | None
    """When a request last changed it, milliseconds since the epoch."""


class WorkerLoggers:
    """Reads and sets levels; remembers when it set which."""

    def __init__(self) -> None:
        self._modified: dict[str, int] = {}

    def all(self) -> dict[str, LoggerLevel]:
        """Return the loggers with a level of their own, and root, by name."""
        explicit = {name for name in _existing() if logging.getLogger(name).level != logging.NOTSET}
        return {name: self._shown(name) for name in sorted({*explicit, ROOT})}

    def get(self, name: str) -> LoggerLevel | None:
        """Return the level in force for a logger; nothing when there is no such logger."""
        if name.lower() == ROOT:
            return self._shown(ROOT)
        return self._shown(name) if name in _existing() else None

    def set(self, prefix: str, level: str) -> Sequence[str]:
        """Set the level of every logger whose name starts so, the named one included.

        Returns the names of those it changed: one that has the level already is not among them.
        """
        everything = prefix.lower() == ROOT
        named = ROOT if everything else prefix
        affected = sorted({named, *(name for name in _existing() if everything or name.startswith(prefix))})
        changed = [name for name in affected if _logger(name).level != LEVELS[level]]
        now = time.time_ns() // 1_000_000
        for name in changed:
            _logger(name).setLevel(LEVELS[level])
            self._modified[name] = now
        return changed

    def _shown(self, name: str) -> LoggerLevel:
        return LoggerLevel(_level_name(_logger(name).getEffectiveLevel()), self._modified.get(name))


def level_named(text: str) -> str | None:
    """Return a level's name, whatever the case; nothing when there is no such level."""
    return text.upper() if text.upper() in LEVELS else None


def _existing() -> set[str]:
    known = logging.Logger.manager.loggerDict.items()
    return {name for name, logger in known if isinstance(logger, logging.Logger)}


def _logger(name: str) -> logging.Logger:
    return logging.getLogger() if name == ROOT else logging.getLogger(name)


def _level_name(level: int) -> str:
    return next((name for name, threshold in LEVELS.items() if level >= threshold), "ALL")
