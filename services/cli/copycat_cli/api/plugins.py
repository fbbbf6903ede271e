"""`/connector-plugins`: what can run, which keys it has, and validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copycat_connect.cluster import Config
from msgspec import Struct, field

from copycat_cli.errors import NotFoundError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

PLUGINS = "connector-plugins"


class Plugin(Struct, frozen=True, omit_defaults=True):
    """A plugin the workers can load."""

    class_name: str = field(name="class")
    type: str
    version: str = ""

    @property
    def alias(self) -> str:
        """The short name a configuration may use."""
        simple = self.class_name.rpartition(".")[2]
        return simple.removesuffix("Connector") if self.type in {"source", "sink"} else simple

    def answers_to(self, name: str) -> bool:
        """Tell whether a configuration means it by this name."""
        return name in {self.class_name, self.class_name.rpartition(".")[2], self.alias}


class UnloadablePlugin(Struct, frozen=True):
    """A plugin that is installed where a worker runs and cannot be loaded there."""

    package: str
    package_version: str
    entry_point: str
    reason: str


class ConfigKey(Struct, frozen=True):
    """The definition of a config key."""

    name: str
    type: str
    required: bool
    importance: str
    default_value: str | None = None
    documentation: str = ""
    group: str | None = None


class ConfigValue(Struct, frozen=True):
    """What validation found about one key."""

    name: str
    value: str | None = None
    errors: tuple[str, ...] = ()
    recommended_values: tuple[str, ...] = ()


class ConfigEntry(Struct, frozen=True):
    """A key with its definition, None where nobody defines it."""

    value: ConfigValue
    definition: ConfigKey | None = None


class Validation(Struct, frozen=True):
    """What validation found."""

    name: str
    error_count: int
    configs: tuple[ConfigEntry, ...]

    @property
    def reasons(self) -> dict[str, tuple[str, ...]]:
        """The errors, by key."""
        return {entry.value.name: entry.value.errors for entry in self.configs if entry.value.errors}


def list_plugins(rest: Rest, *, connectors_only: bool = True) -> list[Plugin]:
    """Return the connector plugins, or all plugins."""
    query = {"connectorsOnly": "true" if connectors_only else "false"}
    return rest.get(list[Plugin], PLUGINS, query=query)


def unloadable_plugins(rest: Rest) -> list[UnloadablePlugin]:
    """Return what is installed but cannot be loaded; nothing where the cluster is not Copycat's."""
    try:
        return rest.get(list[UnloadablePlugin], PLUGINS, "unloadable")
    except NotFoundError:
        return []


def plugin_keys(rest: Rest, plugin: str) -> list[ConfigKey]:
    """Return the config keys of a plugin, its own first."""
    return rest.get(list[ConfigKey], PLUGINS, plugin, "config")


def validate(rest: Rest, plugin: str, config: Config) -> Validation:
    """Have a worker validate a configuration; nothing is created."""
    return rest.ask("PUT", PLUGINS, plugin, "config", "validate", body=config).read_as(Validation)
