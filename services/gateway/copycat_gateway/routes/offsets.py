"""`/connectors/{name}/offsets`: show, alter, reset (KIP-875)."""

from __future__ import annotations

from litestar import Response, delete, get, patch
from litestar.di import NamedDependency

from copycat_gateway.bodies import offset_entries
from copycat_gateway.catalogue import SOURCE
from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import UNKNOWN, documented
from copycat_gateway.edge.progress import stage
from copycat_gateway.errors import BadRequestError
from copycat_gateway.offsets.sink import alter_sink, read_sink, reset_sink
from copycat_gateway.offsets.source import alter_source, read_source, reset_source
from copycat_gateway.offsets.target import find_stopped_target, find_target
from copycat_gateway.routes.dependencies import BODY, CONNECTOR
from copycat_gateway.settings import Settings
from copycat_gateway.views.offsets import (
    ALTERED,
    RESET,
    ConnectorOffsets,
    Message,
    modified,
    sink_offsets,
    source_offsets,
)

PATH = "/connectors/{name:str}/offsets"
TAGS = ["offsets"]
NOT_STOPPED = "The connector is not stopped, or the offsets are none of its kind."


@get(
    PATH,
    summary="Show the committed offsets of a connector",
    tags=TAGS,
    dependencies=CONNECTOR,
    operation_class=documented(refused=UNKNOWN),
)
async def get_offsets(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[ConnectorOffsets]:
    """Show them in whatever state the connector is; the answer is a valid body for PATCH."""
    target = await find_target(services, connector)
    if target.kind == SOURCE:
        return answer(source_offsets(await read_source(services, target)))
    return answer(sink_offsets(await read_sink(services, target)))


@patch(
    PATH,
    summary="Alter some offsets of a stopped connector; a null offset resets its partition",
    tags=TAGS,
    dependencies={**CONNECTOR, **BODY},
    operation_class=documented(body="ChangedOffsets", refused={400: NOT_STOPPED, **UNKNOWN}),
)
async def alter_offsets(
    services: NamedDependency[Services],
    settings: NamedDependency[Settings],
    connector: NamedDependency[str],
    payload: NamedDependency[bytes],
) -> Response[Message]:
    """Alter what the body lists and keep the rest."""
    entries = offset_entries(payload)
    if not entries:
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    with stage(f"modifying offsets for connector {connector}"):
        target = await find_stopped_target(services, connector)
        alter = alter_source if target.kind == SOURCE else alter_sink
        handled = await alter(services, target, entries)
        log_request("offsets altered", connector=connector, partitions=len(entries))
        return answer(modified(ALTERED, handled, kip_strict=settings.kip_strict))


@delete(
    PATH,
    summary="Forget all offsets of a stopped connector",
    tags=TAGS,
    dependencies=CONNECTOR,
    status_code=200,
    operation_class=documented(refused={400: NOT_STOPPED, **UNKNOWN}),
)
async def reset_offsets(
    services: NamedDependency[Services], settings: NamedDependency[Settings], connector: NamedDependency[str]
) -> Response[Message]:
    """Forget every offset; asking twice is no error."""
    with stage(f"modifying offsets for connector {connector}"):
        target = await find_stopped_target(services, connector)
        reset = reset_source if target.kind == SOURCE else reset_sink
        handled = await reset(services, target)
        log_request("offsets reset", connector=connector)
        return answer(modified(RESET, handled, kip_strict=settings.kip_strict))


HANDLERS = (get_offsets, alter_offsets, reset_offsets)
