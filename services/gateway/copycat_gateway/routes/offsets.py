"""`/connectors/{name}/offsets`: show, alter, reset (KIP-875).

Beyond it: dry runs, moves to a time, and `offsets/undo`, which takes the last change back.
"""

from __future__ import annotations

from copycat_rest.answers import ConnectorOffsets, Message, OffsetsEffect, Remembered
from litestar import Response, delete, get, patch, post
from litestar.di import NamedDependency

from copycat_gateway.bodies import offset_entries
from copycat_gateway.catalogue import SOURCE
from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import UNKNOWN, documented
from copycat_gateway.edge.progress import stage
from copycat_gateway.errors import BadRequestError
from copycat_gateway.moments import AT, PAST
from copycat_gateway.offsets.altering import (
    alter_sink,
    alter_source,
    read_sink,
    read_source,
    reset_sink,
    reset_source,
)
from copycat_gateway.offsets.memory import last_change
from copycat_gateway.offsets.moving import dry_run_of, move_to, remembered, undo_last
from copycat_gateway.offsets.plans import plan_entries, plan_reset
from copycat_gateway.offsets.query import ONLY_DRY_RUN, OPTIONS, OffsetsQuery
from copycat_gateway.offsets.target import ChangeRules, find_changeable_target, find_target
from copycat_gateway.past import facts_at, not_known
from copycat_gateway.routes.dependencies import BODY, CONNECTOR
from copycat_gateway.settings import GatewaySettings
from copycat_gateway.views.history import COMMIT
from copycat_gateway.views.offsets import ALTERED, RESET, modified, past_offsets, sink_offsets, source_offsets

PATH = "/connectors/{name:str}/offsets"
UNDO_PATH = f"{PATH}/undo"
TAGS = ["offsets"]
NOT_STOPPED = "The connector is not stopped, or the offsets are none of its kind."


@get(
    PATH,
    summary="Show the committed offsets of a connector",
    tags=TAGS,
    dependencies={**CONNECTOR, **AT},
    operation_class=documented(refused={**PAST, **UNKNOWN}),
)
async def get_offsets(
    services: NamedDependency[Services], connector: NamedDependency[str], at_ms: NamedDependency[int | None]
) -> Response[ConnectorOffsets]:
    """Show them in whatever state the connector is; the answer is a valid body for PATCH."""
    if at_ms is not None:
        facts = await facts_at(services, "offset", connector, COMMIT, at_ms)
        if not facts:
            raise not_known("What was committed", connector, at_ms)
        return answer(past_offsets(facts))
    target = await find_target(services, connector)
    if target.kind == SOURCE:
        return answer(source_offsets(await read_source(services, target)))
    return answer(sink_offsets(await read_sink(services, target)))


@patch(
    PATH,
    summary="Alter some offsets of a stopped connector; a null offset resets its partition",
    tags=TAGS,
    dependencies={**CONNECTOR, **BODY, **OPTIONS},
    operation_class=documented(body="ChangedOffsets", optional=True, refused={400: NOT_STOPPED, **UNKNOWN}),
)
async def alter_offsets(
    services: NamedDependency[Services],
    settings: NamedDependency[GatewaySettings],
    connector: NamedDependency[str],
    payload: NamedDependency[bytes],
    options: NamedDependency[OffsetsQuery],
) -> Response[Message | OffsetsEffect]:
    """Alter what the body lists and keep the rest; without a body, move every position to a time.

    A dry run, or a move to a time, is answered with what it does; all else with Kafka Connect's message.
    """
    with stage(f"modifying offsets for connector {connector}"):
        if options.moment is not None:
            if payload.strip():
                raise BadRequestError(
                    "Both a body and a time are given: send the body without to and rewind, or the time alone"
                )
            moved = await move_to(
                services, rules_of(settings), connector, options.moment, dry_run=options.dry_run
            )
            return answer(moved)
        entries = offset_entries(payload)
        if not entries:
            raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
        if options.dry_run:
            target = await find_target(services, connector)
            return answer(dry_run_of(target, await plan_entries(services, target, entries)))
        target = await find_changeable_target(services, rules_of(settings), connector, "alter")
        alter = alter_source if target.kind == SOURCE else alter_sink
        handled = await alter(services, target, entries)
        log_request("offsets altered", connector=connector, partitions=len(entries))
        return answer(modified(ALTERED, handled, kip_strict=settings.kip_strict))


@delete(
    PATH,
    summary="Forget all offsets of a stopped connector",
    tags=TAGS,
    dependencies={**CONNECTOR, **ONLY_DRY_RUN},
    status_code=200,
    operation_class=documented(refused={400: NOT_STOPPED, **UNKNOWN}),
)
async def reset_offsets(
    services: NamedDependency[Services],
    settings: NamedDependency[GatewaySettings],
    connector: NamedDependency[str],
    dry_run: NamedDependency[bool],
) -> Response[Message | OffsetsEffect]:
    """Forget every offset; asking twice is no error. A dry run is answered with what that would do."""
    with stage(f"modifying offsets for connector {connector}"):
        if dry_run:
            target = await find_target(services, connector)
            return answer(dry_run_of(target, await plan_reset(services, target)))
        target = await find_changeable_target(services, rules_of(settings), connector, "reset")
        reset = reset_source if target.kind == SOURCE else reset_sink
        handled = await reset(services, target)
        log_request("offsets reset", connector=connector)
        return answer(modified(RESET, handled, kip_strict=settings.kip_strict))


def rules_of(settings: GatewaySettings) -> ChangeRules:
    """Return what the settings say about changes of offsets."""
    return ChangeRules(settings.exactly_once_sources, settings.kip_strict)


@get(
    UNDO_PATH,
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
    UNDO_PATH,
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


HANDLERS = (
    get_offsets,
    alter_offsets,
    reset_offsets,
    get_last_change,
    undo_offsets,
)
