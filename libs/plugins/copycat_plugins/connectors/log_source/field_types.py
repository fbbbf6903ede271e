"""The types that a group of an expression may have, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from copycat_connect.data import (
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT8_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    ConnectValue,
    Schema,
)

Read = Callable[[str], ConnectValue]


def _whole(bits: int) -> Read:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            message = f"{number} has more than {bits} bits"
            raise ValueError(message)
        return number

    return read


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        message = "it is neither true nor false"
        raise ValueError(message)
    return text.lower() == "true"


FIELD_TYPES: Final[Mapping[str, tuple[Schema, Read | None]]] = {
    "string": (OPTIONAL_STRING_SCHEMA, None),
    "int8": (OPTIONAL_INT8_SCHEMA, _whole(8)),
    "int16": (OPTIONAL_INT16_SCHEMA, _whole(16)),
    "int32": (OPTIONAL_INT32_SCHEMA, _whole(32)),
    "int64": (OPTIONAL_INT64_SCHEMA, _whole(64)),
    "float32": (OPTIONAL_FLOAT32_SCHEMA, float),
    "float64": (OPTIONAL_FLOAT64_SCHEMA, float),
    "boolean": (OPTIONAL_BOOLEAN_SCHEMA, _boolean),
}
"""A type's schema, and what reads its texts; strings are taken as they are."""
