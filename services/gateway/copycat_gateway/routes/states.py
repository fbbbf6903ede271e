"""`/connectors/{name}/pause`, `resume`, `stop` and `restart`, and `tasks/{n}/restart`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TargetState
from copycat_connect.errors import ConnectError
from copycat_rest.answers import ConnectorStateInfo
from copycat_rpc.messages import target_state_to_proto
from litestar import Response, post, put
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer, nothing
from copycat_gateway.edge.openapi.operations import UNKNOWN, documented
from copycat_gateway.edge.progress import left, stage
from copycat_gateway.errors import (
    CONNECTOR_UNKNOWN,
    FailedRequestError,
    NotFoundError,
    answering_refusals,
    writing_config,
)
from copycat_gateway.routes.dependencies import CONNECTOR, TASK, flag
from copycat_gateway.routes.statuses import read_status
from copycat_gateway.views.connectors import CONNECTOR as ITSELF
from copycat_gateway.views.connectors import restarting_state_info

_STATE_TAGS = ["state"]
#: What a request that asks for a target state is called in the log.
REQUESTED = {
    TargetState.PAUSED: "paused",
    TargetState.STARTED: "resumed",
    TargetState.STOPPED: "stopped",
}


@put(
    "/connectors/{name:str}/pause",
    summary="Pause a connector and its tasks",
    tags=_STATE_TAGS,
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
    tags=_STATE_TAGS,
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
    tags=_STATE_TAGS,
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


_RESTART_TAGS: Final = ["restart"]
MOVING: Final = "No worker has it now: work is moving."


@post(
    "/connectors/{name:str}/restart",
    tags=_RESTART_TAGS,
    dependencies=CONNECTOR,
    status_code=202,
    summary="Restart a connector; with a flag set also its tasks, or only what failed",
    operation_class=documented(
        empty={204: "Restarted; the answer where no flag is set."}, refused={409: MOVING, **UNKNOWN}
    ),
)
async def restart_connector(
    services: NamedDependency[Services],
    connector: NamedDependency[str],
    include_tasks: Annotated[str | None, QueryParameter(name="includeTasks")] = None,
    only_failed: Annotated[str | None, QueryParameter(name="onlyFailed")] = None,
) -> Response[ConnectorStateInfo | None]:
    """Restart on the connector's worker and wait; with flags, log the request and answer what it covers."""
    tasks, failed = flag(include_tasks), flag(only_failed)
    if tasks or failed:
        return answer(
            await _request_restart(services, connector, include_tasks=tasks, only_failed=failed), 202
        )
    await services.connector(connector, _unknown_connector(connector))
    request = executor_pb2.RestartConnectorRequest(connector=connector)
    with (
        stage("starting the connector"),
        answering_refusals(_failed(f"Failed to start connector: {connector}")),
    ):
        await services.workers.ask_owner(
            scheduler_pb2.Instance(connector=connector),
            lambda executor: executor.RestartConnector(request, timeout=left()),
        )
    log_request("connector restarted", connector=connector)
    return nothing(204)


@post(
    "/connectors/{name:str}/tasks/{task_id:str}/restart",
    summary="Restart a task",
    tags=_RESTART_TAGS,
    dependencies=TASK,
    status_code=204,
    operation_class=documented(refused={404: "The connector or the task does not exist.", 409: MOVING}),
)
async def restart_task(
    services: NamedDependency[Services], connector: NamedDependency[str], task: NamedDependency[int]
) -> Response[None]:
    """Restart a task on its worker and wait for it."""
    found = await services.connector(connector, _unknown_connector(connector))
    if not 0 <= task < len(found.tasks):
        raise NotFoundError(f"Unknown task: {connector}-{task}")
    request = executor_pb2.RestartTaskRequest(connector=connector, task=task)
    with (
        stage(f"restarting task {connector}-{task}"),
        answering_refusals(_failed(f"Failed to start task: {connector}-{task}")),
    ):
        await services.workers.ask_owner(
            scheduler_pb2.Instance(connector=connector, task=task),
            lambda executor: executor.RestartTask(request, timeout=left()),
        )
    log_request("task restarted", connector=connector, task=task)
    return nothing(204)


async def _request_restart(
    services: Services, connector: str, *, include_tasks: bool, only_failed: bool
) -> ConnectorStateInfo:
    unknown = _unknown_connector(connector)
    found = await services.connector(connector, unknown)
    no_status = NotFoundError(f"Status for connector {connector} not found")
    status = await read_status(services, connector, no_status)
    if not status.HasField("status"):
        raise no_status
    kind = await services.catalogue.type_of(found)
    request = config_pb2.RequestRestartRequest(
        connector=connector, include_tasks=include_tasks, only_failed=only_failed
    )
    with (
        stage(f"writing restart request for connector {connector} to the config topic"),
        writing_config(),
        answering_refusals({CONNECTOR_UNKNOWN: unknown}),
    ):
        await services.config.RequestRestart(request)
    log_request(
        "connector restarted", connector=connector, include_tasks=include_tasks, only_failed=only_failed
    )
    chosen = planned(status, include_tasks=include_tasks, only_failed=only_failed)
    return restarting_state_info(status, kind, chosen)


def planned(status: status_pb2.ConnectorStatus, *, include_tasks: bool, only_failed: bool) -> Collection[int]:
    """Return what a restart covers: task indices, and `ITSELF` for the connector."""
    candidates = {ITSELF: status.status, **(status.tasks if include_tasks else {})}
    return {
        instance
        for instance, now in candidates.items()
        if not only_failed or now.state == types_pb2.STATE_FAILED
    }


def _unknown_connector(connector: str) -> NotFoundError:
    return NotFoundError(f"Unknown connector: {connector}")


def _failed(text: str) -> dict[str, FailedRequestError]:
    """Map a failing plugin to Kafka Connect's text; the status of the instance holds the reason."""
    return {ConnectError.code.name: FailedRequestError(text)}


HANDLERS = (
    pause,
    resume,
    stop,
    restart_connector,
    restart_task,
)
