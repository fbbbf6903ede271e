"""Plugins, config keys and validation results as Kafka Connect shows them."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from copycat.executor.v1 import executor_service_pb2 as executor_pb2

PluginInfo = TypedDict("PluginInfo", {"class": str, "type": str, "version": NotRequired[str]})


class UnloadablePluginInfo(TypedDict):
    """A plugin that is installed and cannot be loaded; Kafka Connect has no such resource."""

    package: str
    package_version: str
    entry_point: str
    reason: str


class ConfigKeyInfo(TypedDict):
    """The definition of a config key."""

    name: str
    type: str
    required: bool
    default_value: str | None
    importance: str
    documentation: str
    group: str | None
    width: str
    display_name: str
    dependents: list[str]
    order_in_group: int


class ConfigValueInfo(TypedDict):
    """What validation found about one key."""

    name: str
    value: str | None
    recommended_values: list[str]
    errors: list[str]
    visible: bool


class ConfigInfo(TypedDict):
    """One key with its definition, null where nobody defines it."""

    definition: ConfigKeyInfo | None
    value: ConfigValueInfo


class ConfigInfos(TypedDict):
    """What validation found."""

    name: str
    error_count: int
    groups: list[str]
    configs: list[ConfigInfo]


def plugin_info(plugin: executor_pb2.Plugin) -> PluginInfo:
    """Return a plugin; its version only where it has one."""
    shown: PluginInfo = {"class": plugin.class_name, "type": plugin.type}
    if plugin.HasField("version"):
        shown["version"] = plugin.version
    return shown


def unloadable_plugin_info(plugin: executor_pb2.UnloadablePlugin) -> UnloadablePluginInfo:
    """Return a plugin that cannot be loaded."""
    return {
        "package": plugin.package,
        "package_version": plugin.package_version,
        "entry_point": plugin.entry_point,
        "reason": plugin.reason,
    }


def config_key_info(key: executor_pb2.ConfigKeyInfo) -> ConfigKeyInfo:
    """Return the definition of a config key."""
    return {
        "name": key.name,
        "type": key.type,
        "required": key.required,
        "default_value": key.default_value if key.HasField("default_value") else None,
        "importance": key.importance,
        "documentation": key.documentation,
        "group": key.group if key.HasField("group") else None,
        "width": key.width,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
        "order_in_group": key.order,  # its name since Kafka 4.2
    }


def config_infos(found: executor_pb2.ValidateConnectorResponse) -> ConfigInfos:
    """Return what validation found."""
    return {
        "name": found.name,
        "error_count": found.error_count,
        "groups": list(found.groups),
        "configs": [_config_info(config) for config in found.configs],
    }


def validation_summary(found: executor_pb2.ValidateConnectorResponse) -> str:
    """Return the text that refuses a connector with configuration errors."""
    errors = [error for config in found.configs for error in config.value.errors]
    return "\n".join(
        (
            f"Connector configuration is invalid and contains the following {found.error_count} error(s):",
            *errors,
            "You can also find the above list of errors at the endpoint"
            " `/connector-plugins/{connectorType}/config/validate`",
        )
    )


def _config_info(config: executor_pb2.ConfigInfo) -> ConfigInfo:
    return {
        "definition": config_key_info(config.definition) if config.HasField("definition") else None,
        "value": _config_value_info(config.value),
    }


def _config_value_info(value: executor_pb2.ConfigValueInfo) -> ConfigValueInfo:
    return {
        "name": value.name,
        "value": value.value if value.HasField("value") else None,
        "recommended_values": list(value.recommended_values),
        "errors": list(value.errors),
        "visible": value.visible,
    }
