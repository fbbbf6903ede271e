"""Between the connectors' process and the contract: plugins, keys, validation results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from copycat.executor.v1 import executor_service_pb2 as pb


def plugins(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> pb.ListPluginsResponse:
    """Write the plugins, and those that cannot be loaded."""
    return pb.ListPluginsResponse(
        plugins=[
            pb.Plugin(
                class_name=each["class"],
                type=each["type"],
                version=each["version"],
                aliases=each["aliases"],
            )
            for each in found["plugins"]
        ],
        unloadable=[pb.UnloadablePlugin(**each) for each in found["unloadable"]],
    )


def keys(found: Sequence[Mapping[str, Any]]) -> pb.GetPluginConfigResponse:
    """Write the keys of a plugin."""
    return pb.GetPluginConfigResponse(keys=[_key(each) for each in found])


def validation(found: Mapping[str, Any]) -> pb.ValidateConnectorResponse:
    """Write what validation found."""
    return pb.ValidateConnectorResponse(
        name=found["name"],
        type=found["type"],
        error_count=found["error_count"],
        groups=found["groups"],
        configs=[_info(each) for each in found["configs"]],
    )


def _info(found: Mapping[str, Any]) -> pb.ConfigInfo:
    definition = found["definition"]
    return pb.ConfigInfo(
        definition=None if definition is None else _key(definition),
        value=pb.ConfigValueInfo(
            name=found["name"],
            value=found["value"],
            recommended_values=found["recommended"],
            errors=found["errors"],
            visible=found["visible"],
        ),
    )


def _key(found: Mapping[str, Any]) -> pb.ConfigKeyInfo:
    return pb.ConfigKeyInfo(
        name=found["name"],
        type=found["type"],
        required=found["required"],
        default_value=found["default"],
        importance=found["importance"],
        documentation=found["documentation"],
        group=found["group"],
        width=found["width"],
        display_name=found["display_name"],
        dependents=found["dependents"],
        order=found["order"],
    )
