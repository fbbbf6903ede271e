"""What is known about a plugin: the specification of one that can be used, the reason of one that cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pkgutil import resolve_name
from typing import Any

from copycat_connect.config.definition import ConfigDef
from copycat_connect.errors import ConnectError
from copycat_connect.failure_kind import FailureKind

Factory = Callable[[], Any] | str
"""What makes an instance, or where that is (`package.module:Class`): then it is imported when one is made."""
_SUFFIXES = (
    "Connector",
    "HeaderConverter",
    "Converter",
    "Transformation",
    "Predicate",
    "ConnectRestExtension",
)


class PluginKind(Enum):
    """What a plugin is; the value is its name in REST, the order that of Connect's listings."""

    SINK = "sink"
    SOURCE = "source"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"
    REST_EXTENSION = "rest_extension"

    @property
    def interface(self) -> str:
        """The simple name of the Java interface; aliases may leave it out at the end of a class name."""
        return _INTERFACES[self]

    @property
    def is_connector(self) -> bool:
        """True for sources and sinks."""
        return self in CONNECTORS


_INTERFACES = {
    PluginKind.SINK: "Connector",
    PluginKind.SOURCE: "Connector",
    PluginKind.TRANSFORMATION: "Transformation",
    PluginKind.PREDICATE: "Predicate",
    PluginKind.CONVERTER: "Converter",
    PluginKind.HEADER_CONVERTER: "HeaderConverter",
    PluginKind.REST_EXTENSION: "ConnectRestExtension",
}
CONNECTORS = (PluginKind.SINK, PluginKind.SOURCE)
LISTED = tuple(kind for kind in PluginKind if kind is not PluginKind.REST_EXTENSION)
"""What Connect's listing of plugins shows: what a connector's configuration may name."""


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """A plugin: what it is called, how it is configured, how it is made."""

    class_name: str
    """Kafka Connect's class name where it has this plugin, else the Python class's dotted name."""
    kind: PluginKind
    """What it is."""
    version: str
    """Its version; `undefined` when it has none."""
    summary: str
    """One sentence: what it does."""
    config: ConfigDef
    """Its configuration."""
    factory: Factory
    """Makes an instance; takes no arguments and does no I/O."""
    task_class_name: str = ""
    """Class name of its tasks; connectors only."""
    task_factory: Factory | None = None
    """Makes a task; connectors only."""
    guarantees: str = ""
    """Delivery, order, and what source partitions and offsets are."""
    tested_with: str = ""
    """The systems at the connector's other end that its tests run it against, with their versions."""
    examples: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Title to a configuration that validates."""
    failures: Mapping[type[BaseException], FailureKind] = field(default_factory=dict)
    """What exceptions of its own, or of its libraries, mean where they fail a task; the first that fits
    counts."""
    on_spark: bool = False
    """Whether Spark moves its records: its one task is a `SparkSourceTask` or a `SparkSinkTask`."""

    @property
    def module(self) -> str:
        """The module that has what makes an instance."""
        factory = self.factory
        return factory.partition(":")[0] if isinstance(factory, str) else getattr(factory, "__module__", "")

    def make(self) -> Any:  # noqa: ANN401 - whatever its kind is
        """Return a new connector, converter, transformation or predicate.

        Raises:
            ImportError: The module that `factory` names cannot be imported.
        """
        return _made(self.factory)

    def make_task(self) -> Any:  # noqa: ANN401 - a SourceTask or SinkTask, as its kind says
        """Make a task.

        Raises:
            ConnectError: It is no connector.
        """
        if self.task_factory is None:
            raise ConnectError(f"{self.class_name} has no tasks")
        return _made(self.task_factory)


def _made(factory: Factory) -> Any:  # noqa: ANN401 - whatever was asked for
    return (resolve_name(factory) if isinstance(factory, str) else factory)()


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
