"""The names of log levels, as Kafka Connect has them (Log4j's), and their thresholds in Python's `logging`.

The one table of it: the REST interface, the executor, its hosts and the command line all read this one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: By name, the highest threshold first. OFF is above everything that is ever logged.
LEVELS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "OFF": logging.CRITICAL + 10,
        "FATAL": logging.CRITICAL,
        "ERROR": logging.ERROR,
        "WARN": logging.WARNING,
        "INFO": logging.INFO,
        "DEBUG": logging.DEBUG,
        "TRACE": logging.DEBUG - 5,
        "ALL": 1,
    }
)
#: Python's names for two of them, which `log.level` takes as well.
PYTHON_NAMES: Final[Mapping[str, str]] = MappingProxyType({"WARNING": "WARN", "CRITICAL": "FATAL"})
ROOT: Final = "root"


def level_named(text: str) -> str | None:
    """Return the name in `LEVELS` for a text in any case; None when there is no such level."""
    return text.upper() if text.upper() in LEVELS else None


def level_name(threshold: int) -> str:
    """Return the name of a numeric level; of one between two names, the lower."""
    return next((name for name, least in LEVELS.items() if threshold >= least), "ALL")


def setting_level(text: str) -> str | None:
    """Return the name for the value of `log.level`: as `level_named`, and Python's own names count."""
    return level_named(PYTHON_NAMES.get(text.upper(), text))
