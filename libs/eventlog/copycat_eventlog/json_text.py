"""Record values as Kafka Connect writes them: compact JSON in UTF-8, without a schema."""

from __future__ import annotations

import json
from typing import Any


class MalformedError(ValueError):
    """A record is not what its key promises; the text says what is wrong."""


def write_json(value: dict[str, Any]) -> bytes:
    """Return compact JSON, nothing escaped that need not be, fields in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read_object(value: bytes) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        MalformedError: It is none, or holds text that UTF-8 cannot carry on.
    """
    try:
        found = json.loads(value.decode())
        if b"\\u" in value:  # an escaped lone surrogate is text to Java and to nobody else
            write_json(found)
    except (ValueError, RecursionError) as error:
        message = "the value is not JSON"
        raise MalformedError(message) from error
    if not isinstance(found, dict):
        message = "the value is not a JSON object"
        raise MalformedError(message)
    return found


def read_integer(found: dict[str, Any], name: str) -> int:
    """Return a whole number that fits 64 bits.

    Raises:
        MalformedError: It is missing or something else.
    """
    number = found.get(name)
    if isinstance(number, bool) or not isinstance(number, int) or not -(2**63) <= number < 2**63:
        message = f"field {name!r} is not an integer"
        raise MalformedError(message)
    return number


def read_text(found: dict[str, Any], name: str) -> str:
    """Return a string.

    Raises:
        MalformedError: It is missing or something else.
    """
    text = found.get(name)
    if not isinstance(text, str):
        message = f"field {name!r} is not a string"
        raise MalformedError(message)
    return text


def read_optional_text(found: dict[str, Any], name: str) -> str | None:
    """Return a string, or None when it is missing or null.

    Raises:
        MalformedError: It is something else.
    """
    return None if found.get(name) is None else read_text(found, name)
