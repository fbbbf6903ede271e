"""Recommenders that propose what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config.setting import ConfigSetting
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import PluginKind, PluginSpec


@dataclass(frozen=True, slots=True)
class ClassRecommender:
    """Proposes the class names of the installed plugins of one kind."""

    plugins: Plugins
    """What is installed."""
    kind: PluginKind
    """The kind to propose."""

    def valid_values(self, name: str, parsed: Mapping[str, ConfigSetting]) -> list[str]:
        """Return the class names."""
        del name, parsed
        return [spec.class_name for spec in self.plugins.all() if spec.kind is self.kind]

    def visible(self, name: str, parsed: Mapping[str, ConfigSetting]) -> bool:
        """Return True."""
        del name, parsed
        return True


@dataclass(frozen=True, slots=True)
class VersionRecommender:
    """Proposes the installed version of a plugin."""

    spec: PluginSpec | None
    """The plugin; None without one, hence nothing to propose."""
    class_key: str | None = None
    """The key hides while this one, which names the plugin's class, has no value; None never hides it."""

    def valid_values(self, name: str, parsed: Mapping[str, ConfigSetting]) -> list[str]:
        """Return the installed version."""
        del name, parsed
        return [] if self.spec is None else [self.spec.version]

    def visible(self, name: str, parsed: Mapping[str, ConfigSetting]) -> bool:
        """Return whether a class is named to choose a version of, were it of a wrong kind."""
        del name
        return self.class_key is None or parsed.get(self.class_key) is not None
