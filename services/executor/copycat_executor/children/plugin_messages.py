"""Answers of the process of the connectors as messages of the contract: plugins, keys, validation results."""

from __future__ import annotations

from collections.abc import Sequence

from copycat.executor.v1 import executor_service_pb2 as pb

from copycat_executor.pipes.plugin_facts import KeyDefinition, PluginListing, ValidatedKey, Validation


def plugins(found: PluginListing) -> pb.ListPluginsResponse:
    """Write the plugins, and those that cannot be loaded."""
    return pb.ListPluginsResponse(
        plugins=[
            pb.Plugin(class_name=each.class_name, type=each.kind, version=each.version, aliases=each.aliases)
            for each in found.plugins
        ],
        unloadable=[pb.UnloadablePlugin(**each.as_map()) for each in found.unloadable],
    )


def keys(found: Sequence[KeyDefinition]) -> pb.GetPluginConfigResponse:
    """Write the keys of a plugin."""
    return pb.GetPluginConfigResponse(keys=[_key(each) for each in found])


def validation(found: Validation) -> pb.ValidateConnectorResponse:
    """Write what validation found."""
    return pb.ValidateConnectorResponse(
        name=found.name,
        type=found.kind,
        error_count=found.error_count,
        groups=found.groups,
        configs=[_validated(each) for each in found.configs],
    )


def _validated(found: ValidatedKey) -> pb.ConfigInfo:
    return pb.ConfigInfo(
        definition=None if found.definition is None else _key(found.definition),
        value=pb.ConfigValueInfo(
            name=found.name,
            value=found.value,
            recommended_values=found.recommended,
            errors=found.errors,
            visible=found.visible,
        ),
    )


def _key(found: KeyDefinition) -> pb.ConfigKeyInfo:
    return pb.ConfigKeyInfo(
        name=found.name,
        type=found.type,
        required=found.required,
        default_value=found.default,
        importance=found.importance,
        documentation=found.documentation,
        group=found.group,
        width=found.width,
        display_name=found.display_name,
        dependents=found.dependents,
        order=found.order,
    )
