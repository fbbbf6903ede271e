"""Plugins, config keys and validation results as Kafka Connect shows them."""

from __future__ import annotations

from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat_rest.answers import (
    ConfigInfo,
    ConfigInfos,
    ConfigKeyInfo,
    ConfigValueInfo,
    PluginInfo,
    UnloadablePluginInfo,
)
from msgspec import UNSET


def plugin_info(plugin: executor_pb2.Plugin) -> PluginInfo:
    """Return a plugin; its version only where it has one."""
    version = plugin.version if plugin.HasField("version") else UNSET
    return PluginInfo(plugin.class_name, plugin.type, version)


def unloadable_plugin_info(plugin: executor_pb2.UnloadablePlugin) -> UnloadablePluginInfo:
    """Return a plugin that cannot be loaded."""
    return UnloadablePluginInfo(plugin.package, plugin.package_version, plugin.entry_point, plugin.reason)


def config_key_info(key: executor_pb2.ConfigKeyInfo) -> ConfigKeyInfo:
    """Return the definition of a config key."""
    return ConfigKeyInfo(
        name=key.name,
        type=key.type,
        required=key.required,
        default_value=key.default_value if key.HasField("default_value") else None,
        importance=key.importance,
        documentation=key.documentation,
        group=key.group if key.HasField("group") else None,
        width=key.width,
        display_name=key.display_name,
        dependents=list(key.dependents),
        order_in_group=key.order,
    )


def config_infos(found: executor_pb2.ValidateConnectorResponse) -> ConfigInfos:
    """Return what validation found."""
    configs = [_config_info(config) for config in found.configs]
    return ConfigInfos(found.name, found.error_count, list(found.groups), configs)


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
    definition = config_key_info(config.definition) if config.HasField("definition") else None
    return ConfigInfo(definition, _config_value_info(config.value))


def _config_value_info(value: executor_pb2.ConfigValueInfo) -> ConfigValueInfo:
    return ConfigValueInfo(
        name=value.name,
        value=value.value if value.HasField("value") else None,
        recommended_values=list(value.recommended_values),
        errors=list(value.errors),
        visible=value.visible,
    )
