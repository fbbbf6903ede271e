"""The plugins that are installed, by class name and alias."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from copycat_connect.plugin.errors import (
    AmbiguousConnectorError,
    NoSuchVersionError,
    UnknownConnectorClassError,
    UnknownPluginError,
    UnloadablePluginError,
)
from copycat_connect.plugin.spec import CONNECTORS, PluginKind, PluginSpec, UnloadablePlugin
from copycat_connect.plugin.versions import version_range


class Plugins:
    """The installed plugins."""

    def __init__(self, specs: Iterable[PluginSpec], unloadable: Iterable[UnloadablePlugin] = ()) -> None:
        """Index them; of two with one kind and class name the first stays.

        Args:
            specs: What can be used.
            unloadable: What is installed besides and cannot be used.
        """
        self.unloadable = tuple(unloadable)
        unique = {(spec.kind, spec.class_name): spec for spec in reversed(list(specs))}
        order = list(PluginKind)
        self._specs = tuple(
            sorted(unique.values(), key=lambda spec: (order.index(spec.kind), spec.class_name))
        )
        self._classes = {spec.class_name for spec in self._specs}
        self._aliases = _aliases(self._specs)

    def all(self) -> tuple[PluginSpec, ...]:
        """Return every plugin, in Connect's order: by kind, then by class name."""
        return self._specs

    def aliases(self, spec: PluginSpec) -> tuple[str, ...]:
        """Return the other names a plugin answers to."""
        return tuple(alias for alias, owner in self._aliases.items() if owner == spec.class_name)

    def class_name(self, name: str) -> str | None:
        """Return the class name that a class name or alias stands for; None when it is not installed."""
        return name if name in self._classes else self._aliases.get(name)

    def get(self, name: str, kinds: Collection[PluginKind] = tuple(PluginKind)) -> PluginSpec | None:
        """Return the plugin of that class name or alias and one of these kinds; None when nothing has it."""
        wanted = self.class_name(name)
        return next((spec for spec in self._specs if spec.class_name == wanted and spec.kind in kinds), None)

    def find(self, name: str, kinds: Collection[PluginKind] = tuple(PluginKind)) -> PluginSpec:
        """Return the plugin of that class name or alias and one of these kinds.

        Raises:
            UnknownPluginError: No plugin has it.
            UnloadablePluginError: It is installed but cannot be loaded.
        """
        spec = self.get(name, kinds)
        if spec is None:
            self.refuse_unloadable(name)
            raise UnknownPluginError(name)
        return spec

    def refuse_unloadable(self, name: str) -> None:
        """Do nothing, unless a name likely means a plugin that is installed but cannot be loaded.

        Raises:
            UnloadablePluginError: It does; the text has the reason and what to do.
        """
        for each in self.unloadable:
            if not each.is_loaded and each.may_be(name):
                raise UnloadablePluginError(name, each)

    def unloadable_hint(self) -> str:
        """Return a sentence on what is installed but cannot be loaded, for errors about unknown names."""
        broken = [each for each in self.unloadable if not each.is_loaded]
        if not broken:
            return ""
        named = "; ".join(f"{each.entry_point} of {each.package} ({each.reason})" for each in broken)
        return f" Installed but not loadable: {named}"

    def check_version(self, spec: PluginSpec, wanted: str | None) -> None:
        """Check that a plugin is of a version that is asked for (KIP-891).

        Args:
            spec: The plugin.
            wanted: A bare version, a range such as `[1.0,2.0)`, or `latest`; None takes any version.

        Raises:
            InvalidVersionRangeError: The range is malformed.
            NoSuchVersionError: The plugin is of another version; the text names those there are.
        """
        versions = version_range(wanted)
        if versions is not None and not versions.contains(spec.version):
            # As Kafka Connect does it lists a class once for each kind of plugin it is.
            found = [each.version for each in self._specs if each.class_name == spec.class_name]
            raise NoSuchVersionError(spec.class_name, str(versions), found)

    def find_connector(self, name: str) -> PluginSpec:
        """Return the connector that `connector.class` names.

        Raises:
            UnknownConnectorClassError: No connector has it.
            UnloadablePluginError: It is installed but cannot be loaded.
            AmbiguousConnectorError: The alias stands for several.
        """
        spec = self.get(name, CONNECTORS)
        if spec is not None:
            return spec
        connectors = [spec for spec in self._specs if spec.kind.is_connector]
        found = [spec for spec in connectors if _simple(spec) in (name, f"{name}Connector")]
        if not found:
            self.refuse_unloadable(name)
            available = [spec.class_name for spec in connectors]
            raise UnknownConnectorClassError(name, available, self.unloadable_hint())
        raise AmbiguousConnectorError(name, [spec.class_name for spec in found])


def _simple(spec: PluginSpec) -> str:
    return spec.class_name.rpartition(".")[2].rpartition("$")[2]


def _aliases(specs: Iterable[PluginSpec]) -> dict[str, str]:
    claims: dict[str, set[str]] = {}
    for spec in specs:
        simple = _simple(spec)
        for alias in {simple, simple.removesuffix(spec.kind.interface)} - {""}:
            claims.setdefault(alias, set()).add(spec.class_name)
    return {alias: owners.pop() for alias, owners in claims.items() if len(owners) == 1}
