"""The REST extensions that are installed: found like all plugins, by class name or alias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, Plugins, RestExtension

KEY: Final = "rest.extension.classes"
KINDS: Final = (PluginKind.REST_EXTENSION,)


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed plugins, of which extensions are made by name."""

    plugins: Plugins
    """The plugins that load here; those of connectors may need what a gateway has not."""

    def made(self, name: str) -> RestExtension:
        """Make the extension of a class name or alias.

        Raises:
            ConfigError: It does not exist, or cannot be loaded.
        """
        spec = self.plugins.get(name, KINDS)
        if spec is None:
            raise ConfigError(
                f"{KEY} names {name}, which is not an installed REST extension. Known: {self._known()}."
                f" Correct the name, or install the package that has it.{self.plugins.unloadable_hint()}",
                key=KEY,
            )
        made = spec.make()
        if not isinstance(made, RestExtension):
            raise ConfigError(f"its factory makes a {type(made).__name__}, which is no RestExtension")
        return made

    def _known(self) -> str:
        return ", ".join(each.class_name for each in self.plugins.all() if each.kind in KINDS) or "none"
