"""The loggers of this process: which there are, and their levels changed while it runs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from copycat_connect.log_levels import LEVELS, ROOT

#: Libraries that write a line for each connection attempt while a broker is away, or for each request. They
#: are silent, and stay so when the level of everything is lowered: only a change that names them counts.
NOISY_LOGGERS: Final = (
    "aiokafka",
    "faust",
    "mode",
    "kafka",
    "opentelemetry",
    "py4j",
    "uvicorn.error",
    "uvicorn.access",
)


def set_level(prefix: str, level: str) -> Sequence[str]:
    """Set the level of every logger whose name starts with `prefix`, the named one included.

    Returns the names of those it changed: one that has the level already is not among them.

    Args:
        prefix: The start of their names; `root`, in any case, for all but the libraries in `NOISY_LOGGERS`.
        level: A name in `copycat_connect.log_levels.LEVELS`.
    """
    threshold = LEVELS[level]
    if prefix.lower() == ROOT:
        affected = {ROOT, *(name for name in existing_loggers() if not name.startswith(NOISY_LOGGERS))}
    else:
        affected = {prefix, *(name for name in existing_loggers() if name.startswith(prefix))}
    changed = [name for name in sorted(affected) if logging.getLogger(name).level != threshold]
    for name in changed:
        logging.getLogger(name).setLevel(threshold)
    return changed


def existing_loggers() -> set[str]:
    """Return the names of all loggers that were ever asked for, without the root."""
    known = logging.Logger.manager.loggerDict.items()
    return {name for name, logger in known if isinstance(logger, logging.Logger)}
