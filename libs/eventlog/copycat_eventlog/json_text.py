"""Record keys and values as Kafka Connect writes them: text, and compact JSON in UTF-8 without a schema."""

from __future__ import annotations

import json
from typing import Any, Final

from copycat_connect.cluster.strict_json import read_strict_json

INT32_MAX: Final = 2**31 - 1
#: Far above what any cluster reaches, and low enough that the next one is a 64-bit number, too.
MAX_GENERATION: Final = 2**62
#: 9999-12-31: no calendar goes further.
MAX_TIME_MS: Final = 253_402_300_799_999


class MalformedError(ValueError):
    """A record is not what its key promises, or its key promises nothing; the text says what is wrong."""


def write_json(value: dict[str, Any]) -> bytes:
    """Return compact JSON, nothing escaped that need not be, fields in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read_key(key: bytes) -> str:
    """Return a key that is text.

    Raises:
        MalformedError: It is not UTF-8.
    """
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        raise MalformedError("the key is not UTF-8") from error


def read_task_key(name: str) -> tuple[str, int]:
    """Return connector and index of a task; the index follows the last dash, since names may have dashes.

    Raises:
        MalformedError: There is no index of 32 bits.
    """
    connector, dash, index = name.rpartition("-")
    # Java's readers take a sign and zeros before the number; Python's would take other digits, and spaces.
    digits = index.removeprefix("+")
    if dash and digits.isascii() and digits.isdigit():
        number = digits.lstrip("0") or "0"
        if len(number) <= len(str(INT32_MAX)) and int(number) <= INT32_MAX:
            return connector, int(number)
    raise MalformedError("the key does not end in a task index")


def read_json(text: bytes) -> object:
    """Return what JSON text says.

    Raises:
        MalformedError: It is not one that can be passed on.
    """
    try:
        return read_strict_json(text)
    except ValueError as error:
        raise MalformedError(f"it is not JSON: {error}") from error


def read_object(value: bytes) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        MalformedError: It is not one that can be passed on.
    """
    try:
        found = read_strict_json(value)
    except ValueError as error:
        raise MalformedError(f"the value is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise MalformedError("the value is not a JSON object")
    return found


def read_integer(found: dict[str, Any], name: str) -> int:
    """Return a whole number that fits 64 bits.

    Raises:
        MalformedError: It is missing or something else.
    """
    number = found.get(name)
    if isinstance(number, bool) or not isinstance(number, int) or not -(2**63) <= number < 2**63:
        raise MalformedError(f"field {name!r} is not an integer")
    return number


def read_generation(found: dict[str, Any], name: str) -> int:
    """Return a generation.

    Raises:
        MalformedError: It is missing, something else, or so large that none could follow it.
    """
    number = read_integer(found, name)
    if number > MAX_GENERATION:
        raise MalformedError(f"field {name!r} is too large for a generation")
    return number


def readable_time(milliseconds: int) -> int | None:
    """Return a time since the epoch, or None for a number that no calendar shows as one."""
    return milliseconds if 0 <= milliseconds <= MAX_TIME_MS else None


def read_text(found: dict[str, Any], name: str) -> str:
    """Return a string.

    Raises:
        MalformedError: It is missing or something else.
    """
    text = found.get(name)
    if not isinstance(text, str):
        raise MalformedError(f"field {name!r} is not a string")
    return text


def read_optional_text(found: dict[str, Any], name: str) -> str | None:
    """Return a string, or None when it is missing or null.

    Raises:
        MalformedError: It is something else.
    """
    return None if found.get(name) is None else read_text(found, name)
