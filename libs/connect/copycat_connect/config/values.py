"""ConfigValue: what validation found about one key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from copycat_connect.config.setting import ConfigSetting


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
