"""`/connectors/{name}/offsets/undo`: the last change of a connector's offsets, and to take it back."""

from __future__ import annotations

from copycat_rest.answers import OffsetsEffect, Remembered
from litestar import Response, get, post
from litestar.di import NamedDependency

from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import UNKNOWN, documented
from copycat_gateway.edge.progress import stage
from copycat_gateway.offsets.memory import last_change
from copycat_gateway.offsets.moving import undo_last
from copycat_gateway.offsets.undo import remembered
from copycat_gateway.routes.dependencies import CONNECTOR
from copycat_gateway.routes.offset_query import ONLY_DRY_RUN
from copycat_gateway.routes.offsets import NOT_STOPPED, TAGS, rules_of
from copycat_gateway.settings import GatewaySettings

PATH = "/connectors/{name:str}/offsets/undo"


@get(
    PATH,
    summary="Show the last change of a connector's offsets that a user made",
    tags=TAGS,
    dependencies=CONNECTOR,
    operation_class=documented(refused=UNKNOWN),
)
async def get_last_change(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[Remembered]:
    """Show what it moved, from where to where; null where none is remembered."""
    await services.connector(connector)
    return answer(remembered(await last_change(services, connector)))


@post(
    PATH,
    summary="Undo the last change of a stopped connector's offsets",
    tags=TAGS,
    dependencies={**CONNECTOR, **ONLY_DRY_RUN},
    status_code=200,
    operation_class=documented(
        refused={
            400: NOT_STOPPED,
            409: "There is nothing to undo, or something moved the offsets since.",
            **UNKNOWN,
        }
    ),
)
async def undo_offsets(
    services: NamedDependency[Services],
    settings: NamedDependency[GatewaySettings],
    connector: NamedDependency[str],
    dry_run: NamedDependency[bool],
) -> Response[OffsetsEffect]:
    """Go back to where the offsets were, unless something moved them since; what was undone stays undone."""
    with stage(f"modifying offsets for connector {connector}"):
        done = await undo_last(services, rules_of(settings), connector, dry_run=dry_run)
        return answer(done)


HANDLERS = (get_last_change, undo_offsets)
