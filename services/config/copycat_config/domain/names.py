"""Which names a connector or logger may have."""

from __future__ import annotations

from copycat_connect.config.validators import non_empty_without_control_characters
from copycat_connect.errors import ConfigError

from copycat_config.domain.errors import InvalidNameError

MAX_BYTES = 1024
"""Keeps a key far below what Kafka allows, and `connect-<name>` usable as a group id."""


def check_name(name: str, what: str) -> None:
    """Refuse a name that is empty, too long or has control characters; `what` says whose name it is.

    Raises:
        InvalidNameError: With Kafka's text where it has one.
    """
    size = len(name.encode())
    if size > MAX_BYTES:
        reason = f"String may have at most {MAX_BYTES} bytes in UTF-8 but has {size}"
        message = f"Invalid value {name[:100]}... for configuration {what}: {reason}"
        raise InvalidNameError(message, key=what)
    try:
        non_empty_without_control_characters(what, name if name.strip() else "")
    except ConfigError as error:
        raise InvalidNameError(error.message, key=what) from error
