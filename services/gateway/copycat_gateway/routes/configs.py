"""`/connectors/{name}/config`: show, put, patch."""

from __future__ import annotations

from copycat_rest.answers import ConnectorInfo
from copycat_rpc.configs import config_from_proto
from litestar import Response, get, patch, put
from litestar.di import NamedDependency

from copycat_gateway.bodies import string_map
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import INVALID, UNKNOWN, documented
from copycat_gateway.history.past import facts_at, not_known
from copycat_gateway.registration import change, named, register
from copycat_gateway.routes.dependencies import BODY, CONNECTOR, SITE
from copycat_gateway.routes.moments import AT, PAST
from copycat_gateway.views.connectors import location
from copycat_gateway.views.history import CONFIG

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


HANDLERS = (get_config, put_config, patch_config)
