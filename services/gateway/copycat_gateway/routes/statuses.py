"""`/connectors/{name}/status` and `/connectors/{name}/tasks/{n}/status`."""

from __future__ import annotations

import asyncio

from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat_rest.answers import ConnectorStateInfo, TaskState
from litestar import Response, get
from litestar.di import NamedDependency

from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.errors import STATUS_UNKNOWN, NotFoundError, answering_refusals
from copycat_gateway.moments import AT, PAST
from copycat_gateway.past import facts_at, not_known
from copycat_gateway.routes.dependencies import CONNECTOR, TASK
from copycat_gateway.scrape import concerning
from copycat_gateway.views.connectors import connector_state_info, past_state_info, task_state
from copycat_gateway.views.history import STATUS

TAGS = ["status"]


@get(
    "/connectors/{name:str}/status",
    summary="Show the status of a connector and its tasks",
    tags=TAGS,
    dependencies={**CONNECTOR, **AT},
    operation_class=documented(refused={**PAST, 404: "The connector has no status."}),
)
async def get_status(
    services: NamedDependency[Services], connector: NamedDependency[str], at_ms: NamedDependency[int | None]
) -> Response[ConnectorStateInfo]:
    """Show what the workers say; a connector just deleted is seen here until they have let go of it."""
    if at_ms is not None:
        facts = await facts_at(services, "status", connector, STATUS, at_ms)
        if facts.get("") is None:
            raise not_known("The status", connector, at_ms)
        return answer(past_state_info(connector, facts, await services.kind_of(connector)))
    unknown = NotFoundError(f"No status found for connector {connector}")
    status, kind, lost = await asyncio.gather(
        read_status(services, connector, unknown),
        services.kind_of(connector),
        services.lost_logs.reasons(),
    )
    if not status.HasField("status"):
        raise unknown
    return answer(connector_state_info(status, kind, concerning(lost, kind)))


@get(
    "/connectors/{name:str}/tasks/{task_id:str}/status",
    summary="Show the status of a task",
    tags=TAGS,
    dependencies=TASK,
    operation_class=documented(refused={404: "The task has no status."}),
)
async def get_task_status(
    services: NamedDependency[Services], connector: NamedDependency[str], task: NamedDependency[int]
) -> Response[TaskState]:
    """Show what the worker of a task says."""
    unknown = NotFoundError(f"No status found for task {connector}-{task}")
    status = await read_status(services, connector, unknown)
    if task not in status.tasks:
        raise unknown
    return answer(task_state(task, status.tasks[task]))


async def read_status(
    services: Services, connector: str, unknown: NotFoundError
) -> status_pb2.ConnectorStatus:
    """Return a connector's statuses, or raise `unknown` for a connector without any."""
    with answering_refusals({STATUS_UNKNOWN: unknown}):
        reply = await services.status.GetConnectorStatus(
            status_pb2.GetConnectorStatusRequest(connector=connector)
        )
    return reply.status


HANDLERS = (get_status, get_task_status)
