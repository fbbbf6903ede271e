"""Connectors, tasks, their statuses and workers, as Kafka Connect shows them, with Copycat's own fields."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NotRequired, TypedDict
from urllib.parse import quote

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat.types.v1 import types_pb2
from copycat_rest.answers import (
    ConnectorInfo,
    ConnectorState,
    ConnectorStateInfo,
    Health,
    HeldInstance,
    TaskId,
    TaskInfo,
    TaskState,
    WorkerInfo,
)
from copycat_rpc.messages import config_from_proto
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

STATES: Final = {number: name.removeprefix("STATE_") for name, number in types_pb2.State.items()}
LEVELS: Final = {
    number: name.removeprefix("HEALTH_").lower() for name, number in status_pb2.Health.items() if number
}
DEGRADED, FAILED = LEVELS[status_pb2.HEALTH_DEGRADED], LEVELS[status_pb2.HEALTH_FAILED]
RESTARTING: Final = "RESTARTING"
#: Names the connector itself among the instances chosen for a restart.
CONNECTOR: Final = -1


class PastStatus(TypedDict):
    """A status as the status service keeps it."""

    state: str
    worker_id: str
    generation: int
    trace: NotRequired[str]
    version: NotRequired[str]


def connector_state_info(status: status_pb2.ConnectorStatus, kind: str, lost: str = "") -> ConnectorStateInfo:
    """Return a connector's status, with what Copycat adds; no connector is well whose log is `lost`."""
    return ConnectorStateInfo(
        name=status.connector,
        connector=_connector_state(status.status, additions=True),
        tasks=[task_state(task, status.tasks[task]) for task in sorted(status.tasks)],
        type=kind,
        health=_health(status, lost),
    )


def restarting_state_info(
    status: status_pb2.ConnectorStatus, kind: str, restarting: Container[int]
) -> ConnectorStateInfo:
    """Return a connector's status in Kafka Connect's fields alone; instances in `restarting` show RESTARTING.

    Workers of Kafka Connect read this answer of each other, and refuse fields that they do not know.
    """
    connector = _connector_state(status.status)
    return ConnectorStateInfo(
        name=status.connector,
        connector=replace(connector, state=RESTARTING) if CONNECTOR in restarting else connector,
        tasks=[
            replace(task, state=RESTARTING) if task.id in restarting else task
            for task in (_task_state(number, status.tasks[number]) for number in sorted(status.tasks))
        ],
        type=kind,
    )


def past_state_info(name: str, facts: Mapping[str, PastStatus | None], kind: str) -> ConnectorStateInfo:
    """Return the statuses of a connector as they were, by task; its own has an empty key.

    They have Kafka Connect's fields alone: what Copycat adds is of the moment.
    """
    messages = {
        subject: status_pb2.Status(
            state=types_pb2.State.Value(f"STATE_{fact['state']}"),
            worker_id=fact["worker_id"],
            trace=fact.get("trace"),
            version=fact.get("version"),
        )
        for subject, fact in facts.items()
        if fact is not None
    }
    own = _connector_state(messages.pop(""))
    numbered = sorted((int(subject), message) for subject, message in messages.items())
    tasks = [_task_state(task, message) for task, message in numbered]
    return ConnectorStateInfo(name, own, tasks, kind)


def task_state(task: int, status: status_pb2.Status) -> TaskState:
    """Return a task's status, with what Copycat adds."""
    return _task_state(task, status, additions=True)


def _task_state(task: int, status: status_pb2.Status, *, additions: bool = False) -> TaskState:
    return TaskState(task, *_fields(status, additions=additions))


def _connector_state(status: status_pb2.Status, *, additions: bool = False) -> ConnectorState:
    return ConnectorState(*_fields(status, additions=additions))


def _fields(status: status_pb2.Status, *, additions: bool) -> tuple[Any, ...]:
    """Return the fields that states of connectors and of tasks share, in their order."""
    theirs = (STATES[status.state], status.worker_id, status.version or UNSET, status.trace or UNSET)
    if not additions:
        return theirs
    since = _iso(status.since_ms) if status.since_ms > 0 else UNSET
    return (*theirs, since, status.generation, status.reason or UNSET)


def _health(status: status_pb2.ConnectorStatus, lost: str) -> Health | UnsetType:
    if not (status.health or lost):
        return UNSET
    level = LEVELS[status.health] if status.health else DEGRADED
    if lost and level != FAILED:
        level = DEGRADED
    return Health(level, "; ".join(filter(None, (lost, status.health_reason))) or UNSET)


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


#: What Java's URI builder leaves alone in a path segment.
PATH_SAFE = "!$&'()*+,;=:@"


def connector_info(connector: config_pb2.Connector, kind: str) -> ConnectorInfo:
    """Return the connector; `kind` is source, sink or unknown."""
    return ConnectorInfo(
        name=connector.name,
        config=config_from_proto(connector.config),
        tasks=[TaskId(connector.name, index) for index in range(len(connector.tasks))],
        type=kind,
    )


def task_infos(connector: config_pb2.Connector) -> list[TaskInfo]:
    """Return the committed tasks with their raw configurations."""
    return [
        TaskInfo(TaskId(connector.name, index), config_from_proto(config))
        for index, config in enumerate(connector.tasks)
    ]


def tasks_config(connector: config_pb2.Connector) -> dict[str, dict[str, str | None]]:
    """Return the task configurations by `<connector>-<task>`, the shape of the deprecated resource."""
    return {
        f"{connector.name}-{index}": config_from_proto(config) for index, config in enumerate(connector.tasks)
    }


def location(connector: str) -> str:
    """Return the path of a connector; a slash in its name is encoded, so that the path leads there."""
    return f"/connectors/{quote(connector, safe=PATH_SAFE)}"


def worker_info(worker: scheduler_pb2.Worker, shows: Callable[[str], bool]) -> WorkerInfo:
    """Return a worker, with what it holds of the connectors that are shown."""
    held = [_held_instance(each) for each in worker.held if shows(each.instance.connector)]
    return WorkerInfo(worker.worker_id, worker.leaving, held)


def _held_instance(held: scheduler_pb2.Held) -> HeldInstance:
    instance = held.instance
    return HeldInstance(
        connector=instance.connector,
        task=instance.task if instance.HasField("task") else UNSET,
        generation=held.generation,
    )
