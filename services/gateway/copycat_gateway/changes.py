"""Lines of the log about changes that requests make."""

from __future__ import annotations

import logging

from copycat_telemetry.changes import current_asker, log_change

log = logging.getLogger(__name__)


def log_request(what: str, **about: object) -> None:
    """Log a change that the current request made, and by whom."""
    asker = current_asker()
    log_change(log, what, logging.INFO, **about, by=asker.name or None, address=asker.address or None)
