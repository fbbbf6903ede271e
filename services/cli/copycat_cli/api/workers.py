"""What workers have: plugins and keys (`/connector-plugins`), log levels (`/admin/loggers`); `/workers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config
from copycat_rest.answers import (
    ConfigInfos,
    ConfigKeyInfo,
    LoggerInfo,
    PluginInfo,
    UnloadablePluginInfo,
    WorkerInfo,
)

from copycat_cli.errors import UnknownNameError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

PLUGINS = "connector-plugins"
LOGGERS = ("admin", "loggers")


def list_workers(rest: Rest) -> list[WorkerInfo]:
    """Return the live workers."""
    return rest.get(list[WorkerInfo], "workers")


def alias(plugin: PluginInfo) -> str:
    """Return the shortest name of a plugin that a configuration may use."""
    simple = plugin.class_name.rpartition(".")[2]
    if "$" in simple:  # Kafka Connect would shorten it to Key or Value, which several classes are named
        return plugin.class_name
    return simple.removesuffix("Connector") if plugin.type in {"source", "sink"} else simple


def answers_to(plugin: PluginInfo, name: str) -> bool:
    """Return whether a configuration means a plugin by this name."""
    return name in {plugin.class_name, plugin.class_name.rpartition(".")[2], alias(plugin)}


def errors_by_key(found: ConfigInfos) -> dict[str, Sequence[str]]:
    """Return what validation objects to, by key."""
    return {entry.value.name: entry.value.errors for entry in found.configs if entry.value.errors}


def list_plugins(rest: Rest, *, connectors_only: bool = True) -> list[PluginInfo]:
    """Return the connector plugins, or all plugins."""
    query = {"connectorsOnly": "true" if connectors_only else "false"}
    return rest.get(list[PluginInfo], PLUGINS, query=query)


def unloadable_plugins(rest: Rest) -> list[UnloadablePluginInfo]:
    """Return what is installed but cannot be loaded; nothing where the cluster is not Copycat's."""
    try:
        return rest.get(list[UnloadablePluginInfo], PLUGINS, "unloadable")
    except UnknownNameError:
        return []


def plugin_keys(rest: Rest, plugin: str) -> list[ConfigKeyInfo]:
    """Return the config keys of a plugin, its own first."""
    return rest.get(list[ConfigKeyInfo], PLUGINS, plugin, "config")


def validate(rest: Rest, plugin: str, config: Config) -> ConfigInfos:
    """Have a worker validate a configuration; nothing is created."""
    return rest.ask("PUT", PLUGINS, plugin, "config", "validate", body=config).read_as(ConfigInfos)


def list_loggers(rest: Rest) -> dict[str, LoggerInfo]:
    """Return the loggers with a level of their own, by name."""
    return rest.get(dict[str, LoggerInfo], *LOGGERS)


def get_logger(rest: Rest, name: str) -> LoggerInfo:
    """Return the level in force for a logger."""
    return rest.get(LoggerInfo, *LOGGERS, name)


def set_level(rest: Rest, name: str, level: str, scope: str) -> list[str]:
    """Set a level; returns the loggers it changed, nothing where the scope is the cluster."""
    answer = rest.ask("PUT", *LOGGERS, name, body={"level": level}, query={"scope": scope})
    return answer.read_as(list[str]) if answer.content else []
