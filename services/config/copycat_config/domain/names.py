"""Which names a connector or logger may have."""

from __future__ import annotations

import unicodedata

from copycat_config.domain.errors import InvalidNameError

MAX_BYTES = 1024
"""Keeps a key far below what Kafka allows, and `connect-<name>` usable as a group id."""


def check_name(name: str, what: str) -> None:
    """Refuse a name that is empty, too long or has control characters; `what` says whose name it is.

    Raises:
        InvalidNameError: With Kafka's reason where it has one.
    """
    if reason := _fault(name):
        message = f"Invalid value {name[:100]} for configuration {what}: {reason}"
        raise InvalidNameError(message, name=name[:100])


def _fault(name: str) -> str | None:
    if not name.strip():
        return "String may not be empty"
    if len(name.encode()) > MAX_BYTES:
        return f"String may have at most {MAX_BYTES} bytes in UTF-8 but has {len(name.encode())}"
    if codes := [f"0x{ord(char):02X}" for char in name if unicodedata.category(char) == "Cc"]:
        return (
            f"String may not contain control sequences but had the following ASCII chars: {', '.join(codes)}"
        )
    return None
