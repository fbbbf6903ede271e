"""ConfigKey: the definition of one configuration key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from copycat_connect.config.parsing import parse_type
from copycat_connect.config.setting import ConfigSetting, Type

Validator = Callable[[str, ConfigSetting], None]
"""Called with the key's name and the parsed value; raises ConfigError when the value will not do."""


class Importance(Enum):
    """How much a key matters to most users."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(Enum):
    """How wide an input field should be."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class NoDefault(Enum):
    """The type of `NO_DEFAULT`."""

    NO_DEFAULT = ""


NO_DEFAULT = NoDefault.NO_DEFAULT
"""Says that a key has no default, hence is required; None is a default like any other."""


class Recommender(Protocol):
    """Proposes values for a key, given what the others are set to."""

    def valid_values(self, name: str, parsed: Mapping[str, ConfigSetting]) -> Sequence[ConfigSetting]:
        """Return values that would do."""

    def visible(self, name: str, parsed: Mapping[str, ConfigSetting]) -> bool:
        """Return whether the key means anything now."""


@dataclass(frozen=True, slots=True, init=False)
class ConfigKey:
    """One configuration key: one source for parsing, validation, documentation and its default."""

    name: str
    """Dotted lower case."""
    type: Type
    """What its value is parsed to."""
    importance: Importance
    """How much it matters."""
    default: ConfigSetting
    """Parsed default; `NO_DEFAULT` makes the key required."""
    validator: Validator | None
    """Checks the parsed value, the default too."""
    doc: str
    """What it does."""
    group: str | None
    """Heading it is shown under."""
    order: int
    """Place under the heading; -1 for none."""
    width: Width
    """How wide its input field should be."""
    display_name: str
    """Title; the name by default."""
    dependents: tuple[str, ...]
    """Keys whose meaning depends on this one."""
    recommender: Recommender | None
    """Proposes values."""

    def __init__(
        self,
        name: str,
        type: Type,
        importance: Importance,
        *,
        default: ConfigSetting = NO_DEFAULT,
        validator: Validator | None = None,
        doc: str = "",
        group: str | None = None,
        order: int = -1,
        width: Width = Width.NONE,
        display_name: str | None = None,
        dependents: Sequence[str] = (),
        recommender: Recommender | None = None,
    ) -> None:
        """Define a key; see the fields.

        Raises:
            ConfigError: The default itself will not do.
        """
        parsed = default if default is NO_DEFAULT else parse_type(name, default, type)
        if validator is not None and parsed is not NO_DEFAULT:
            validator(name, parsed)
        for attribute, value in {
            "name": name,
            "type": type,
            "importance": importance,
            "default": parsed,
            "validator": validator,
            "doc": doc,
            "group": group,
            "order": order,
            "width": width,
            "display_name": name if display_name is None else display_name,
            "dependents": tuple(dependents),
            "recommender": recommender,
        }.items():
            object.__setattr__(self, attribute, value)

    @property
    def has_default(self) -> bool:
        """False when the key is required."""
        return self.default is not NO_DEFAULT
