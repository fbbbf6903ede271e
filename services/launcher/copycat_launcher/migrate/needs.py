"""What a connector's configuration names: its class, converters, transformations, predicates, providers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from copycat_cli.advice import similar
from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import (
    CONNECTOR_CLASS,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    PREDICATES,
    TRANSFORMS,
    VALUE_CONVERTER,
)
from copycat_connect.config.placeholders import find_placeholders, has_placeholder
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin.errors import UnknownConnectorClassError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import CONNECTORS, PluginKind

from copycat_launcher.migrate.findings import Finding, MigrationVerdict

CONVERTERS: Mapping[str, PluginKind] = {
    KEY_CONVERTER: PluginKind.CONVERTER,
    VALUE_CONVERTER: PluginKind.CONVERTER,
    HEADER_CONVERTER: PluginKind.HEADER_CONVERTER,
}
FAMILIES: Mapping[str, PluginKind] = {
    TRANSFORMS: PluginKind.TRANSFORMATION,
    PREDICATES: PluginKind.PREDICATE,
}
STAY = (
    "or leave this connector where it is: both systems may run side by side, each with a group.id of its own"
)
#: How like a class of ours the name of one that is missing must be to be taken for the same thing.
ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class PluginNeed:
    """One plugin that a configuration names."""

    key: str
    class_name: str
    kind: PluginKind


def missing_plugins(config: Config, plugins: Plugins) -> list[Finding]:
    """Return a finding for each plugin that a connector names and that is not here."""
    found = [_connector(config, plugins)]
    found += [_plugin(need, plugins) for need in needs(config)]
    return [each for each in found if each is not None]


def needs(config: Config) -> Iterator[PluginNeed]:
    """Yield the plugins that a configuration, of a connector or of a worker, names besides the connector."""
    for key, kind in CONVERTERS.items():
        yield from _need(config, key, kind)
    for family, kind in FAMILIES.items():
        for alias in filter(None, map(str.strip, (config.get(family) or "").split(","))):
            yield from _need(config, f"{family}.{alias}.type", kind)


def missing_converters(worker: Config, plugins: Plugins) -> list[Finding]:
    """Return a finding for each converter that a worker's file names and that is not here."""
    return [found for need in needs(worker) if (found := _plugin(need, plugins)) is not None]


def providers_named(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each config provider that a value needs, with the first key whose value does."""
    seen = set()
    for key, value in config.items():
        for provider in (each.provider for each in find_placeholders(value)):
            if provider and provider not in seen:
                seen.add(provider)
                yield provider, key


def _need(config: Config, key: str, kind: PluginKind) -> Iterator[PluginNeed]:
    value = (config.get(key) or "").strip()
    if value and not has_placeholder(value):
        yield PluginNeed(key, value, kind)


def _connector(config: Config, plugins: Plugins) -> Finding | None:
    name = (config.get(CONNECTOR_CLASS) or "").strip()
    if not name:
        return Finding(MigrationVerdict.REFUSED, CONNECTOR_CLASS, "it is not set", "name a class")
    try:
        plugins.find_connector(name)
    except UnknownConnectorClassError:
        return _missing(
            PluginNeed(CONNECTOR_CLASS, name, PluginKind.SOURCE), plugins, "connector", CONNECTORS
        )
    except CopycatError as error:  # several have this alias, or it is installed and cannot be loaded
        return Finding(
            MigrationVerdict.MISSING, CONNECTOR_CLASS, error.message, "copycat plugins lists what is here"
        )
    return None


def _plugin(need: PluginNeed, plugins: Plugins) -> Finding | None:
    if plugins.get(need.class_name, (need.kind,)) is not None:
        return None
    try:
        plugins.refuse_unloadable(need.class_name)
    except ConfigError as error:
        return Finding(MigrationVerdict.MISSING, need.key, error.message, "mend or remove that package")
    return _missing(need, plugins, need.kind.value.replace("_", " "), (need.kind,))


def _missing(need: PluginNeed, plugins: Plugins, noun: str, kinds: tuple[PluginKind, ...]) -> Finding:
    text = f"the {noun} {need.class_name} is not here; plugins written in Java do not run in Copycat"
    known = {_simple(spec.class_name): spec.class_name for spec in plugins.all() if spec.kind in kinds}
    close = [known[name] for name in similar(_simple(need.class_name), known, closeness=ALIKE)]
    instead = f"use {' or '.join(close)}, " if close else ""
    write = f"write it in Python and install it (copycat plugins add), {STAY}"
    return Finding(MigrationVerdict.MISSING, need.key, text, instead + write)


def _simple(class_name: str) -> str:
    return class_name.rpartition(".")[2]
