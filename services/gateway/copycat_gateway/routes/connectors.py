"""`/connectors`, `/connectors/{name}` and its `config`: list, create, show, change, delete."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Annotated

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat_access.roles import Role
from copycat_rest.answers import ConnectorInfo, ConnectorStateInfo, Expanded
from copycat_rpc.messages import config_from_proto
from litestar import Response, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from msgspec import UNSET, UnsetType

from copycat_gateway.access.authorisation import Access
from copycat_gateway.bodies import create_request, string_map
from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services, connector_not_found
from copycat_gateway.edge.answers import answer, nothing
from copycat_gateway.edge.openapi.operations import INVALID, UNKNOWN, documented
from copycat_gateway.edge.progress import stage
from copycat_gateway.errors import CONNECTOR_UNKNOWN, answering_refusals, writing_config
from copycat_gateway.moments import AT, PAST
from copycat_gateway.past import facts_at, not_known
from copycat_gateway.registration import change, named, register
from copycat_gateway.routes.dependencies import BODY, CONNECTOR, CONNECTOR_IN_QUERY, SITE
from copycat_gateway.scrape import concerning
from copycat_gateway.views.connectors import connector_info, connector_state_info, location
from copycat_gateway.views.history import CONFIG

log = logging.getLogger(__name__)

STATUS, INFO = "status", "info"


@get(
    "/connectors",
    summary="List the connectors, with their status or info where expanded",
    tags=["connectors"],
    operation_class=documented(),
)
async def list_connectors(
    services: NamedDependency[Services],
    access: NamedDependency[Access],
    expand: Annotated[list[str] | None, QueryParameter(name="expand")] = None,
) -> Response[list[str] | dict[str, Expanded]]:
    """List names, or a map of name to the parts asked for; only what the caller may see."""
    if expand is None:
        listed, shown = await services.connectors(), access.shown()
        return answer([connector.name for connector in listed if shown(connector.name)])
    return answer(await _expanded(services, access, expand))


async def _expanded(services: Services, access: Access, parts: Collection[str]) -> dict[str, Expanded]:
    unknown = sorted(set(parts) - {STATUS, INFO})
    if unknown:
        log.warning("ignoring unknown expansion type(s) of GET /connectors: %s", ", ".join(unknown))
    listed, statuses, lost = await asyncio.gather(
        services.connectors(), _statuses(services, wanted=STATUS in parts), services.lost_logs.reasons()
    )
    may_see = access.shown()
    connectors = [connector for connector in listed if may_see(connector.name)]
    types = await services.catalogue.types_of(connectors)
    shown: dict[str, Expanded] = {}
    for connector in connectors:
        kind = types[connector.name]
        state: ConnectorStateInfo | UnsetType = UNSET
        if STATUS in parts:
            status = statuses.get(connector.name)
            if status is None or not status.HasField("status"):
                continue  # Kafka Connect drops a connector of which a part is missing
            state = connector_state_info(status, kind, concerning(lost, kind))
        info = connector_info(connector, kind) if INFO in parts else UNSET
        shown[connector.name] = Expanded(state, info)
    return shown


async def _statuses(services: Services, *, wanted: bool) -> dict[str, status_pb2.ConnectorStatus]:
    if not wanted:
        return {}
    listed = await services.status.ListConnectorStatuses(status_pb2.ListConnectorStatusesRequest())
    return {status.connector: status for status in listed.statuses}


@post(
    "/connectors",
    summary="Create a connector",
    tags=["connectors"],
    dependencies={**SITE, **BODY},
    operation_class=documented(
        body="CreateConnectorRequest", refused={400: INVALID, 409: "The connector exists."}
    ),
)
async def create_connector(
    services: NamedDependency[Services],
    access: NamedDependency[Access],
    site: NamedDependency[str],
    payload: NamedDependency[bytes],
) -> Response[ConnectorInfo]:
    """Create a connector; refused where it exists or its configuration is invalid."""
    request = create_request(payload)
    access.demand_in_body(Role.ADMIN, request.name)
    config = named(request.name, request.config)
    made = await register(
        services, request.name, config, initial_state=request.initial_state, create_only=True
    )
    return answer(made.info, 201, {"Location": site + location(request.name)})


@get(
    "/connectors/{name:str}",
    summary="Show a connector",
    tags=["connectors"],
    dependencies=CONNECTOR,
    operation_class=documented(refused=UNKNOWN),
)
async def get_connector(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[ConnectorInfo]:
    """Show configuration, tasks and type."""
    found = await services.connector(connector)
    return answer(connector_info(found, await services.catalogue.type_of(found)))


@delete(
    "/connectors/{name:str}",
    summary="Delete a connector; its offsets stay",
    tags=["connectors"],
    dependencies=CONNECTOR,
    status_code=204,
    operation_class=documented(refused=UNKNOWN),
)
async def delete_connector(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[None]:
    """Delete a connector; its tasks flush and stop afterwards."""
    return await _delete(services, connector)


@delete(
    "/connectors",
    dependencies=CONNECTOR_IN_QUERY,
    status_code=204,
    include_in_schema=False,
)
async def delete_connector_by_query(
    services: NamedDependency[Services], access: NamedDependency[Access], connector: NamedDependency[str]
) -> Response[None]:
    """Delete a connector whose name no path can have: empty, `.` or `..`, as one in a topic may be called."""
    access.demand_in_body(Role.ADMIN, connector)
    return await _delete(services, connector)


async def _delete(services: Services, connector: str) -> Response[None]:
    with (
        stage(f"removing the config for connector {connector} from the config topic"),
        writing_config(),
        answering_refusals({CONNECTOR_UNKNOWN: connector_not_found(connector)}),
    ):
        reply = await services.config.DeleteConnector(config_pb2.DeleteConnectorRequest(name=connector))
    services.written.note(reply.revision)
    log_request("connector deleted", connector=connector)
    return nothing(204)


PATH = "/connectors/{name:str}/config"


@get(
    PATH,
    summary="Show a connector's configuration",
    tags=["connectors"],
    dependencies={**CONNECTOR, **AT},
    operation_class=documented(refused={**PAST, **UNKNOWN}),
)
async def get_config(
    services: NamedDependency[Services], connector: NamedDependency[str], at_ms: NamedDependency[int | None]
) -> Response[dict[str, str | None]]:
    """Show the raw configuration: placeholders are never resolved."""
    if at_ms is not None:
        config = (await facts_at(services, "config", connector, CONFIG, at_ms)).get("")
        if config is None:
            raise not_known("The configuration", connector, at_ms)
        return answer(config)
    return answer(config_from_proto((await services.connector(connector)).config))


@put(
    PATH,
    summary="Create a connector, or replace its configuration",
    tags=["connectors"],
    dependencies={**CONNECTOR, **SITE, **BODY},
    operation_class=documented(body="Config", shown={201: "Created."}, refused={400: INVALID}),
)
async def put_config(
    services: NamedDependency[Services],
    connector: NamedDependency[str],
    site: NamedDependency[str],
    payload: NamedDependency[bytes],
) -> Response[ConnectorInfo]:
    """Replace the configuration, keeping the target state; 201 where the connector is new."""
    made = await register(services, connector, named(connector, string_map(payload)))
    if made.created:
        return answer(made.info, 201, {"Location": site + location(connector)})
    return answer(made.info)


@patch(
    PATH,
    summary="Change some keys of a connector's configuration; null removes a key",
    tags=["connectors"],
    dependencies={**CONNECTOR, **BODY},
    operation_class=documented(body="ConfigPatch", refused={400: INVALID, **UNKNOWN}),
)
async def patch_config(
    services: NamedDependency[Services], connector: NamedDependency[str], payload: NamedDependency[bytes]
) -> Response[ConnectorInfo]:
    """Merge the body into the stored configuration; the result is validated like a new one."""
    made = await change(services, connector, string_map(payload))
    return answer(made.info)


HANDLERS = (
    list_connectors,
    create_connector,
    get_connector,
    delete_connector,
    delete_connector_by_query,
    get_config,
    put_config,
    patch_config,
)
