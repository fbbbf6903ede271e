"""Errors of finding plugins."""

from __future__ import annotations

from collections.abc import Iterable

from copycat_connect.errors import ConfigError, CopycatError, ErrorCode
from copycat_connect.plugin.spec import UnloadablePlugin


class UnknownPluginError(ConfigError):
    """No plugin of that name is installed."""

    code = ErrorCode("plugin.unknown", grpc="NOT_FOUND", http=404)

    def __init__(self, plugin: str) -> None:
        super().__init__(f"Unknown plugin {plugin}.", plugin=plugin)


class UnloadablePluginError(ConfigError):
    """A plugin is installed but cannot be loaded."""

    code = ErrorCode("plugin.unloadable", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, plugin: str, found: UnloadablePlugin) -> None:
        super().__init__(
            f"Plugin {plugin} is installed but cannot be loaded: {found.reason}. It comes with the package "
            f"{found.package} {found.package_version} (entry point {found.entry_point}): repair or uninstall "
            "that package, then restart the workers",
            plugin=plugin,
        )


class UnlistedPluginError(ConfigError):
    """A plugin is not one that a connector's configuration may name."""

    code = ErrorCode("plugin.unlisted", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, plugin: str) -> None:
        super().__init__(
            f"Invalid plugin class {plugin}. Valid types are sink, source, converter, header_converter, "
            "transformation, predicate.",
            plugin=plugin,
        )


class InvalidVersionRangeError(ConfigError):
    """A version of a plugin is asked for with a malformed range; `wanted` is the range as written."""

    code = ErrorCode("plugin.version_malformed", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, wanted: str, reason: str) -> None:
        super().__init__(reason, wanted=wanted)


class NoSuchVersionError(ConfigError):
    """A plugin is installed, but in no version that is asked for."""

    code = ErrorCode("plugin.version_unknown", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, plugin: str, wanted: str, available: Iterable[str]) -> None:
        super().__init__(
            f"Plugin {plugin} not found that matches the version range {wanted}, "
            f"available versions: [{', '.join(available)}]",
            plugin=plugin,
        )


class NoSuchConnectorError(CopycatError):
    """A REST extension asks for a connector that does not exist."""

    code = ErrorCode("plugin.no_connector", grpc="NOT_FOUND", http=404)

    def __init__(self, connector: str) -> None:
        super().__init__(f"Connector {connector} not found", connector=connector)


class NoConnectorClassError(ConfigError):
    """A configuration has no `connector.class`."""

    code = ErrorCode("plugin.connector_missing", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self) -> None:
        super().__init__("Connector config contains no connector type")


class UnknownConnectorClassError(ConfigError):
    """`connector.class` names no installed connector."""

    code = ErrorCode("plugin.connector_unknown", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, connector_class: str, available: Iterable[str], hint: str = "") -> None:
        super().__init__(
            "Failed to find any class that implements Connector and which name matches "
            f"{connector_class}, available connectors are: {', '.join(available)}{hint and f'.{hint}'}",
            plugin=connector_class,
        )


class AmbiguousConnectorError(ConfigError):
    """`connector.class` is an alias of several connectors."""

    code = ErrorCode("plugin.connector_ambiguous", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, alias: str, found: Iterable[str]) -> None:
        super().__init__(
            f"More than one connector matches alias {alias}. Please use full package and class name instead. "
            f"Classes found: {', '.join(found)}",
            plugin=alias,
        )
