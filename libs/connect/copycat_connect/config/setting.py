"""A setting: a parsed value, the types it is parsed to, and what validation finds about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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


HIDDEN = "[hidden]"


@dataclass(frozen=True, slots=True)
class Password:
    """A secret; its text is `[hidden]` wherever it is printed."""

    value: str = field(repr=False)
    """The secret itself."""

    def __str__(self) -> str:
        return HIDDEN


@dataclass(slots=True)
class ConfigValue:
    """What validation found about one key. Errors are added to it as validation goes on."""

    name: str
    """The key."""
    value: ConfigSetting = None
    """The parsed value; None when it could not be parsed."""
    recommended_values: Sequence[ConfigSetting] = ()
    """Values that would do."""
    errors: list[str] = field(default_factory=list)
    """What is wrong; empty when all is well."""
    visible: bool = True
    """False when other settings make it meaningless."""
