"""`/connectors/{name}/pause`, `resume`, `stop`: what a connector should do."""

from __future__ import annotations

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat_connect.cluster import TargetState
from copycat_rpc.target_states import target_state_to_proto
from litestar import Response, put
from litestar.di import NamedDependency

from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import nothing
from copycat_gateway.edge.openapi.operations import UNKNOWN, documented
from copycat_gateway.edge.progress import stage
from copycat_gateway.errors import CONNECTOR_UNKNOWN, NotFoundError, answering_refusals, writing_config
from copycat_gateway.routes.dependencies import CONNECTOR

TAGS = ["state"]
#: What a request that asks for a target state is called in the log.
REQUESTED = {
    TargetState.PAUSED: "paused",
    TargetState.STARTED: "resumed",
    TargetState.STOPPED: "stopped",
}


@put(
    "/connectors/{name:str}/pause",
    summary="Pause a connector and its tasks",
    tags=TAGS,
    dependencies=CONNECTOR,
    status_code=202,
    operation_class=documented(refused=UNKNOWN),
)
async def pause(services: NamedDependency[Services], connector: NamedDependency[str]) -> Response[None]:
    """Ask for PAUSED; the workers follow."""
    await _set_target_state(services, connector, TargetState.PAUSED)
    return nothing(202)


@put(
    "/connectors/{name:str}/resume",
    summary="Resume a paused or stopped connector",
    tags=TAGS,
    dependencies=CONNECTOR,
    status_code=202,
    operation_class=documented(refused=UNKNOWN),
)
async def resume(services: NamedDependency[Services], connector: NamedDependency[str]) -> Response[None]:
    """Ask for STARTED; the workers follow."""
    await _set_target_state(services, connector, TargetState.STARTED)
    return nothing(202)


@put(
    "/connectors/{name:str}/stop",
    summary="Stop a connector: its tasks are removed, its offsets stay",
    tags=TAGS,
    dependencies=CONNECTOR,
    status_code=204,
    operation_class=documented(refused=UNKNOWN),
)
async def stop(services: NamedDependency[Services], connector: NamedDependency[str]) -> Response[None]:
    """Ask for STOPPED; the task set is empty from here on."""
    with writing_config():
        await _set_target_state(services, connector, TargetState.STOPPED)
    return nothing(204)


async def _set_target_state(services: Services, connector: str, target: TargetState) -> None:
    unknown = NotFoundError(f"Unknown connector {connector}")
    request = config_pb2.SetTargetStateRequest(name=connector, target_state=target_state_to_proto(target))
    with (
        # "stage" for "state" is Kafka Connect's
        stage(f"writing the {target.value} target stage for connector {connector} to the config topic"),
        answering_refusals({CONNECTOR_UNKNOWN: unknown}),
    ):
        reply = await services.config.SetTargetState(request)
    services.written.note(reply.revision)
    log_request(f"connector {REQUESTED[target]}", connector=connector)


HANDLERS = (pause, resume, stop)
