"""One line for each change that an operator would look for, with its keys as fields of their own."""

from __future__ import annotations

import logging
from collections.abc import Mapping


def log_change(logger: logging.Logger, what: str, level: int = logging.INFO, **about: object) -> None:
    """Log a change, such as `connector deleted`.

    Args:
        logger: Whose level decides.
        what: What happened, the same text for each change of its kind; without names and values.
        level: The level of the line.
        about: Its keys (`connector`, `task`, `worker`, `by`, `why` ...); those that are None are left out.
            Never a secret.
    """
    _log(logger, what, level, about)


def log_each(logger: logging.Logger, what: str, level: int = logging.INFO, **about: object) -> None:
    """Log a change as `log_change` does, however often: of other warnings the like are counted."""
    _log(logger, what, level, about, unlimited=True)


def _log(
    logger: logging.Logger, what: str, level: int, about: Mapping[str, object], *, unlimited: bool = False
) -> None:
    if logger.isEnabledFor(level):
        fields = {key: value for key, value in about.items() if value is not None}
        logger.log(level, "%s", what, extra={"fields": fields, "unlimited": unlimited})
