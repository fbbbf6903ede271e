"""`/connectors/{name}/tasks`, one of them, and the deprecated `tasks-config`."""

from __future__ import annotations

import logging

from copycat_rest.answers import TaskDetail, TaskInfo, TaskState
from litestar import Response, get
from litestar.di import NamedDependency
from msgspec import UNSET

from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import UNKNOWN, documented
from copycat_gateway.errors import NotFoundError
from copycat_gateway.routes.dependencies import CONNECTOR, TASK
from copycat_gateway.routes.statuses import read_status
from copycat_gateway.views.connectors import task_infos, task_state, tasks_config

log = logging.getLogger(__name__)

TAGS = ["tasks"]


@get(
    "/connectors/{name:str}/tasks",
    summary="List the tasks of a connector",
    tags=TAGS,
    dependencies=CONNECTOR,
    operation_class=documented(refused=UNKNOWN),
)
async def list_tasks(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[list[TaskInfo]]:
    """List the committed tasks with their raw configurations."""
    return answer(task_infos(await services.connector(connector)))


@get(
    "/connectors/{name:str}/tasks/{task_id:str}",
    summary="Show configuration and status of a task",
    tags=TAGS,
    dependencies=TASK,
    operation_class=documented(refused={404: "The connector or the task does not exist."}),
)
async def get_task(
    services: NamedDependency[Services], connector: NamedDependency[str], task: NamedDependency[int]
) -> Response[TaskDetail]:
    """Show both halves of a task at once; Kafka Connect has no such resource."""
    found = await services.connector(connector)
    if not 0 <= task < len(found.tasks):
        raise NotFoundError(f"Task {connector}-{task} not found")
    shown, status = task_infos(found)[task], await _status(services, connector, task)
    return answer(TaskDetail(shown.id, shown.config, UNSET if status is None else status))


@get(
    "/connectors/{name:str}/tasks-config",
    summary="Task configurations by task; use /tasks instead",
    tags=TAGS,
    dependencies=CONNECTOR,
    deprecated=True,
    operation_class=documented(refused=UNKNOWN),
)
async def get_tasks_config(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[dict[str, dict[str, str | None]]]:
    """Show the task configurations in the shape Kafka Connect has deprecated."""
    log.warning(
        "GET /connectors/{connector}/tasks-config is deprecated: use GET /connectors/{connector}/tasks"
    )
    return answer(tasks_config(await services.connector(connector)))


async def _status(services: Services, connector: str, task: int) -> TaskState | None:
    try:
        status = await read_status(services, connector, NotFoundError("no status"))
    except NotFoundError:
        return None
    return task_state(task, status.tasks[task]) if task in status.tasks else None


HANDLERS = (list_tasks, get_task, get_tasks_config)
