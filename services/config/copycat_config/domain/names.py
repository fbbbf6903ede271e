"""Which names a connector or logger may have."""

from __future__ import annotations

from copycat_connect.config.validators import usable_name
from copycat_connect.errors import ConfigError

from copycat_config.domain.errors import InvalidNameError, LongNameError

MAX_NAME_BYTES = 1024
"""Keeps a key far below what Kafka allows, and `connect-<name>` usable as a group id."""


def check_name(name: str, what: str) -> None:
    """Refuse a name that is empty, too long or has control characters; `what` says whose name it is.

    Raises:
        InvalidNameError: With Kafka's text where it has one.
    """
    size = len(name.encode())
    if size > MAX_NAME_BYTES:
        raise LongNameError(what, name, size, MAX_NAME_BYTES)
    try:
        usable_name(what, name if name.strip() else "")
    except ConfigError as error:
        raise InvalidNameError(what, error.message) from error
