"""Statuses as Kafka Connect shows them: no trace where there is none."""

# No postponed annotations here: the OpenAPI document would not see `NotRequired` in them.
from collections.abc import Container
from typing import Final, NotRequired, TypedDict

from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat.types.v1 import types_pb2

STATES: Final = {number: name.removeprefix("STATE_") for name, number in types_pb2.State.items()}
RESTARTING: Final = "RESTARTING"
#: Names the connector itself among the instances chosen for a restart.
CONNECTOR: Final = -1


class ConnectorState(TypedDict):
    """What a connector does, where, with which version of its plugin, and why it failed."""

    state: str
    worker_id: str
    version: NotRequired[str]
    trace: NotRequired[str]


class TaskState(TypedDict):
    """What a task does, where, with which version of its plugin, and why it failed."""

    id: int
    state: str
    worker_id: str
    version: NotRequired[str]
    trace: NotRequired[str]


class ConnectorStateInfo(TypedDict):
    """A connector's status and those of its tasks, by index."""

    name: str
    connector: ConnectorState
    tasks: list[TaskState]
    type: str


def connector_state_info(
    status: status_pb2.ConnectorStatus, kind: str, restarting: Container[int] = ()
) -> ConnectorStateInfo:
    """Return a connector's status; instances in `restarting` show RESTARTING, all else as it is."""
    return {
        "name": status.connector,
        "connector": _connector_state(status.status, CONNECTOR in restarting),
        "tasks": [task_state(task, status.tasks[task], task in restarting) for task in sorted(status.tasks)],
        "type": kind,
    }


def task_state(task: int, status: status_pb2.Status, restarting: bool = False) -> TaskState:
    """Return a task's status."""
    shown: TaskState = {"id": task, "state": _state(status, restarting), "worker_id": status.worker_id}
    if status.version:
        shown["version"] = status.version
    if status.trace:
        shown["trace"] = status.trace
    return shown


def _connector_state(status: status_pb2.Status, restarting: bool) -> ConnectorState:
    shown: ConnectorState = {"state": _state(status, restarting), "worker_id": status.worker_id}
    if status.version:
        shown["version"] = status.version
    if status.trace:
        shown["trace"] = status.trace
    return shown


def _state(status: status_pb2.Status, restarting: bool) -> str:
    return RESTARTING if restarting else STATES[status.state]
