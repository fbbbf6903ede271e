"""A setting: a parsed configuration value, and the types it is parsed to."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeAlias

ConfigSetting: TypeAlias = Any
"""A parsed value: bool, int, float, str, list of str, Password or None."""


class Type(Enum):
    """What a value is parsed to."""

    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"  # noqa: S105  # the type's name
