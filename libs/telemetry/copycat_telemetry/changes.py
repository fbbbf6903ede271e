"""One line for each change that an operator would look for, with its keys as fields of their own."""

from __future__ import annotations

import logging


def log_change(logger: logging.Logger, what: str, level: int = logging.INFO, **about: object) -> None:
    """Log a change, such as `connector deleted`.

    Args:
        logger: Whose level decides.
        what: What happened, the same text for each change of its kind; without names and values.
        level: The level of the line.
        about: Its keys (`connector`, `task`, `worker`, `by`, `why` ...); those that are None are left out.
            Never a secret.
    """
    if logger.isEnabledFor(level):
        fields = {key: value for key, value in about.items() if value is not None}
        logger.log(level, "%s", what, extra={"fields": fields})
