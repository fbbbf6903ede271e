"""`/connector-plugins`: what can be run, how it is configured, and validation."""

from __future__ import annotations

from typing import Annotated, Final

from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin.errors import (
    AmbiguousConnectorError,
    InvalidVersionRangeError,
    NoConnectorClassError,
    UnknownConnectorClassError,
    UnknownPluginError,
)
from copycat_rest.answers import ConfigInfos, ConfigKeyInfo, PluginInfo, UnloadablePluginInfo
from copycat_rpc.errors import code_of
from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from copycat_gateway.bodies import string_map
from copycat_gateway.catalogue import SINK, SOURCE
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.edge.paths import segment
from copycat_gateway.errors import BadRequestError, FailedRequestError, NotFoundError, answering_refusals
from copycat_gateway.registration import CLASS, validate
from copycat_gateway.routes.dependencies import BODY, flag
from copycat_gateway.views.plugins import config_infos, config_key_info, plugin_info, unloadable_plugin_info

TAGS: Final = ["plugins"]
SUFFIX: Final = "Connector"
#: Kafka Connect forgets to unwrap its own error here, and clients see the class name.
BAD_REQUEST: Final = "org.apache.kafka.connect.runtime.rest.errors.BadRequestException: "
UNWRAPPED: Final = {
    ConfigError.code.name: "org.apache.kafka.common.config.ConfigException: ",
    NoConnectorClassError.code.name: BAD_REQUEST,
    UnknownConnectorClassError.code.name: BAD_REQUEST,
    AmbiguousConnectorError.code.name: BAD_REQUEST,
    InvalidVersionRangeError.code.name: BAD_REQUEST,
}


@get(
    "/connector-plugins",
    summary="List the connector plugins, or all plugins",
    tags=TAGS,
    operation_class=documented(),
)
async def list_plugins(
    services: NamedDependency[Services],
    connectors_only: Annotated[str | None, QueryParameter(name="connectorsOnly")] = None,
) -> Response[list[PluginInfo]]:
    """List what the workers can load."""
    plugins = await services.catalogue.plugins()
    if flag(connectors_only, default=True):
        plugins = [plugin for plugin in plugins if plugin.type in {SINK, SOURCE}]
    return answer([plugin_info(plugin) for plugin in plugins])


@get(
    "/connector-plugins/unloadable",
    summary="List what is installed but cannot be loaded, with the reason",
    tags=TAGS,
    operation_class=documented(),
)
async def list_unloadable_plugins(
    services: NamedDependency[Services],
) -> Response[list[UnloadablePluginInfo]]:
    """List the plugins that a worker has found and cannot use; an addition to Kafka Connect's resources."""
    return answer([unloadable_plugin_info(plugin) for plugin in await services.catalogue.unloadable()])


@get(
    "/connector-plugins/{plugin:str}/config",
    summary="List the config keys of a plugin",
    tags=TAGS,
    operation_class=documented(
        refused={
            400: "The plugin is not installed in this version, or cannot be loaded.",
            404: "No worker has such a plugin.",
        }
    ),
)
async def get_plugin_config(
    services: NamedDependency[Services],
    plugin: FromPath[str],
    version: Annotated[
        str | None,
        QueryParameter(name="version", description="Version or range of versions, as in `[1.0,2.0)`."),
    ] = None,
) -> Response[list[ConfigKeyInfo]]:
    """List the plugin's own keys, then those every connector of its type has (KIP-769, KIP-891)."""
    name = segment(plugin)
    request = executor_pb2.GetPluginConfigRequest(plugin=name, version=version)
    malformed = BadRequestError(f"Invalid version specification: {version}")
    unknown = NotFoundError(f"Unknown plugin {name}.")
    with answering_refusals(
        {InvalidVersionRangeError.code.name: malformed, UnknownPluginError.code.name: unknown}
    ):
        found = await services.workers.ask(lambda executor: executor.GetPluginConfig(request))
    return answer([config_key_info(key) for key in found.keys])


@put(
    "/connector-plugins/{plugin:str}/config/validate",
    summary="Validate a connector configuration",
    tags=TAGS,
    dependencies=BODY,
    operation_class=documented(body="Config", refused={400: "The configuration is for another plugin."}),
)
async def validate_config(
    services: NamedDependency[Services], plugin: FromPath[str], payload: NamedDependency[bytes]
) -> Response[ConfigInfos]:
    """Validate without creating anything; errors are listed key by key."""
    config = string_map(payload)
    name, included = segment(plugin), config.get(CLASS)
    if included is not None and not _short(included).endswith(_short(name)):
        raise BadRequestError(f"Included connector type {included} does not match request type {name}")
    try:
        return answer(config_infos(await validate(services, config)))
    except CopycatError as error:
        wrapper = UNWRAPPED.get(code_of(error).name)
        if wrapper is None:
            raise
        raise FailedRequestError(f"{wrapper}{error.message}") from error


def _short(name: str) -> str:
    return name.removesuffix(SUFFIX) or name


HANDLERS = (list_plugins, list_unloadable_plugins, get_plugin_config, validate_config)
