"""Keys of the published connectors that do nothing here: their configurations are taken as they are."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.config import BOOLEAN, INT, LOW, ConfigDef, ConfigKey
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.errors import ConfigError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WithoutEffect:
    """A key that is accepted, and does nothing."""

    name: str
    """The key."""
    type: Type
    """What its values are."""
    default: ConfigSetting
    """What it is without a value."""
    why: str
    """Why it does nothing, for people."""

    def key(self) -> ConfigKey:
        """Return its definition."""
        return ConfigKey(self.name, self.type, LOW, default=self.default, doc=f"No effect: {self.why}.")


UNUSED_BY_ALL: Final = (
    WithoutEffect("schema.cache.size", INT, 1000, "schemas are kept as long as they are used"),
    WithoutEffect("enhanced.avro.schema.support", BOOLEAN, False, "schemas are written with all they hold"),
    WithoutEffect("connect.meta.data", BOOLEAN, True, "Avro schemas always tell Connect's own"),
    WithoutEffect("allow.optional.map.keys", BOOLEAN, False, "a map's keys are as its schema says"),
)
"""Keys that all of them have."""


def not_offered(name: str, why: str) -> ConfigKey:
    """Return a switch that may stay off: on, the published connector writes what is not written here.

    Args:
        name: The key.
        why: What is not offered, and what to do instead.
    """

    def check(name: str, value: ConfigSetting) -> None:
        if value:
            raise ConfigError(f"Invalid value true for configuration {name}: {why}", key=name)

    return ConfigKey(name, BOOLEAN, LOW, default=False, validator=check, doc=f"Only false: {why}.")


def tell_unused(
    connector: str, definition: ConfigDef, unused: Sequence[WithoutEffect], config: Mapping[str, str]
) -> None:
    """Log a warning for each key that somebody set and that does nothing here."""
    parsed = definition.parse(config)
    for each in unused:
        if parsed[each.name] != each.default:
            _log.warning("%s: '%s' has no effect: %s", connector, each.name, each.why)
