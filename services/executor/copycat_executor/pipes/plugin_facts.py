"""What the process of the connectors answers about plugins and configurations."""

from __future__ import annotations

from copycat_connect.plugin.spec import UnloadablePlugin
from msgspec import Struct


class ListedPlugin(Struct, frozen=True, forbid_unknown_fields=True):
    """An installed plugin as REST lists it."""

    class_name: str
    kind: str
    """A value of `PluginKind`."""
    version: str | None
    aliases: tuple[str, ...]


class PluginListing(Struct, frozen=True, forbid_unknown_fields=True):
    """The plugins in Kafka Connect's order, and those that are installed but cannot be used."""

    plugins: tuple[ListedPlugin, ...]
    unloadable: tuple[UnloadablePlugin, ...]


class KeyDefinition(Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration key under the name it has in its place: with the prefix of the part it belongs to."""

    name: str
    type: str
    required: bool
    default: str | None
    importance: str
    documentation: str
    group: str | None
    width: str
    display_name: str
    dependents: tuple[str, ...]
    order: int


class ValidatedKey(Struct, frozen=True, forbid_unknown_fields=True):
    """What validation found about one key."""

    definition: KeyDefinition | None
    """None for a key that nobody defines."""
    name: str
    value: str | None
    recommended: tuple[str, ...]
    errors: tuple[str, ...]
    visible: bool


class ValidationFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """What validation found about a configuration."""

    name: str
    kind: str
    """`source` or `sink`."""
    error_count: int
    groups: tuple[str, ...]
    configs: tuple[ValidatedKey, ...]
