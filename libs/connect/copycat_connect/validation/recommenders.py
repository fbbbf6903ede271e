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
    """The plugin; None when there is none, hence nothing to propose."""
    visible_without: bool = True
    """True shows the key also when there is no plugin."""

    def valid_values(self, name: str, parsed: Mapping[str, ConfigSetting]) -> list[str]:
        """Return the installed version."""
        del name, parsed
        return [] if self.spec is None else [self.spec.version]

    def visible(self, name: str, parsed: Mapping[str, ConfigSetting]) -> bool:
        """Return whether there is a plugin to choose a version of."""
        del name, parsed
        return self.visible_without or self.spec is not None
