"""How a configuration becomes a connector: check the name, validate on a worker, write."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat_connect.cluster import Config, TargetState
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.errors import NoConnectorClassError
from copycat_rest.answers import ConnectorInfo
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_from_proto, config_to_proto, target_state_to_proto

from copycat_gateway.bodies import StringMap
from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left, stage
from copycat_gateway.errors import (
    CONFIG_CHANGED,
    CONNECTOR_EXISTS,
    BadRequestError,
    ConflictError,
    FailedRequestError,
    answering_refusals,
    writing_config,
)
from copycat_gateway.views.connectors import connector_info
from copycat_gateway.views.plugins import validation_summary

NAME: Final = "name"
CLASS: Final = "connector.class"
#: Other gateways may be busy with the same connector, and a read may be a moment behind.
_CHANGE_ATTEMPTS: Final = 50
_CHANGE_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Registered:
    """A connector as it was written."""

    info: ConnectorInfo
    """The connector as it is now."""
    created: bool
    """It was not there before."""


def named(name: str, config: Config) -> StringMap:
    """Return the configuration with its name in it.

    Raises:
        BadRequestError: It names another connector.
    """
    included = config.get(NAME)
    if included is None:
        return {**config, NAME: name}
    if included != name:
        raise BadRequestError(
            f"Connector name configuration ({included}) doesn't match connector name in the URL ({name})"
        )
    return dict(config)


async def register(
    services: Services,
    name: str,
    config: StringMap,
    *,
    initial_state: TargetState = TargetState.STARTED,
    create_only: bool = False,
    expected: Config | None = None,
) -> Registered:
    """Validate a complete configuration and write it.

    Raises:
        BadRequestError: It is invalid; the text lists every error.
        ConflictError: `create_only`, and the connector exists.
        RemoteError: The configuration is no longer the one `expected`.
    """
    kind = await _validated(services, config)
    request = config_pb2.PutConnectorRequest(
        name=name,
        config=config_to_proto(config),
        # STARTED is not written: the absence of a target state says as much
        initial_state=target_state_to_proto(None if initial_state is TargetState.STARTED else initial_state),
        create_only=create_only,
        expected=None if expected is None else config_to_proto(expected),
    )
    exists = ConflictError(f"Connector {name} already exists")
    with (
        stage(f"writing a config for connector {name} to the config topic"),
        writing_config(),
        answering_refusals({CONNECTOR_EXISTS: exists}),
    ):
        reply = await services.config.PutConnector(request)
    services.written.note(reply.revision)
    log_request("connector created" if reply.created else "connector updated", connector=name)
    return Registered(connector_info(reply.connector, kind), reply.created)


async def change(services: Services, name: str, changes: StringMap) -> Registered:
    """Merge changes into the stored configuration, null removes a key, and register the result.

    None of many at once is lost: here they wait for each other, and what another gateway wrote between
    reading and writing is read again.

    Raises:
        BadRequestError: The result is invalid, or has another name.
        RemoteError: The configuration was replaced again and again.
    """
    async with services.changing.setdefault(name, asyncio.Lock()):
        for left_attempts in reversed(range(_CHANGE_ATTEMPTS)):
            stored = config_from_proto((await services.connector(name)).config)
            merged = {
                key: value for key, value in {**stored, **changes}.items() if changes.get(key, "") is not None
            }
            if NAME in merged:
                named(name, merged)
            try:
                return await register(services, name, merged, expected=stored)
            except RemoteError as error:
                if error.remote_code.name != CONFIG_CHANGED or not left_attempts:
                    raise
            await asyncio.sleep(_CHANGE_PAUSE_SECONDS)
    raise AssertionError("unreachable")


async def validate(services: Services, config: StringMap) -> executor_pb2.ValidateConnectorResponse:
    """Have a live worker validate a connector configuration.

    Raises:
        NoConnectorClassError: It names no connector class.
        RemoteError: The worker refuses: the class is unknown, the plugin hangs.
    """
    if config.get(CLASS) is None:
        raise NoConnectorClassError
    request = executor_pb2.ValidateConnectorRequest(config=config_to_proto(config))
    with stage("validating the configuration of the connector"):
        return await services.workers.ask(
            lambda executor: executor.ValidateConnector(request, timeout=left())
        )


async def _validated(services: Services, config: StringMap) -> str:
    """Return the type of a valid connector."""
    try:
        found = await validate(services, config)
    except RemoteError as error:
        if error.remote_code.name == ConfigError.code.name:  # cannot even be validated: Kafka Connect's 500
            raise FailedRequestError(error.message) from error
        raise
    if found.error_count:
        raise BadRequestError(validation_summary(found))
    return found.type
