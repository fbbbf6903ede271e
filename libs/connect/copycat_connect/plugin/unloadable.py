"""Plugins that are installed and cannot be used, with the reason: they are listed, and harm no other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_SUFFIXES = (
    "Connector",
    "HeaderConverter",
    "Converter",
    "Transformation",
    "Predicate",
    "ConnectRestExtension",
)


@dataclass(frozen=True, slots=True)
class UnloadablePlugin:
    """An installed plugin that cannot be used."""

    package: str
    """Name of the package that announces it."""
    package_version: str
    """Version of that package."""
    entry_point: str
    """What announces it: name and value of its entry point, as in `orders = acme_orders.plugin`."""
    reason: str
    """Why it cannot be used."""
    is_loaded: bool = False
    """Its entry point was loaded; only this plugin of it is left out, since another package has it too."""

    def may_be(self, name: str) -> bool:
        """Return whether a configuration that names a class or alias likely means this plugin.

        The class names of a plugin that cannot be loaded are not known. A class is taken for its own when it
        lies in the package of its module, or has the name of its entry point.
        """
        announced, _, module = self.entry_point.partition(" = ")
        module = module.partition(":")[0]
        folder = module.rpartition(".")[0] or module
        simple = name.rpartition(".")[2].partition("$")[0]
        names = {simple, *(simple.removesuffix(suffix) for suffix in _SUFFIXES)}
        return name.startswith(f"{folder}.") or _plain(announced) in map(_plain, names)

    def as_map(self) -> dict[str, str]:
        """Return it as the services pass it on."""
        return {
            "package": self.package,
            "package_version": self.package_version,
            "entry_point": self.entry_point,
            "reason": self.reason,
        }


def failed_entry_points(unloadable: Iterable[UnloadablePlugin]) -> Mapping[str, str]:
    """Return the reason by entry point, for `load_plugins(failed_before=...)` in another process."""
    return {each.entry_point: each.reason for each in unloadable if not each.is_loaded}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
