"""Statuses as Kafka Connect shows them, a trace only where something failed; then Copycat's own fields."""

# No postponed annotations here: the OpenAPI document would not see `NotRequired` in them.
from collections.abc import Container, Mapping
from datetime import UTC, datetime
from typing import Final, NotRequired, TypedDict

from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat.types.v1 import types_pb2

STATES: Final = {number: name.removeprefix("STATE_") for name, number in types_pb2.State.items()}
LEVELS: Final = {
    number: name.removeprefix("HEALTH_").lower() for name, number in status_pb2.Health.items() if number
}
DEGRADED, FAILED = LEVELS[status_pb2.HEALTH_DEGRADED], LEVELS[status_pb2.HEALTH_FAILED]
RESTARTING: Final = "RESTARTING"
#: Names the connector itself among the instances chosen for a restart.
CONNECTOR: Final = -1


class Additions(TypedDict, total=False):
    """What Copycat adds to Kafka Connect's fields.

    Since when it is so (ISO 8601, UTC), the generation of its assignment, why it is not plainly RUNNING.
    """

    since: str
    generation: int
    reason: str


class ConnectorState(Additions):
    """What a connector does, where, with which version of its plugin, and why it failed."""

    state: str
    worker_id: str
    version: NotRequired[str]
    trace: NotRequired[str]


class TaskState(Additions):
    """What a task does, where, with which version of its plugin, and why it failed."""

    id: int
    state: str
    worker_id: str
    version: NotRequired[str]
    trace: NotRequired[str]


class Health(TypedDict):
    """A connector summed up: healthy, degraded or failed, and why it is not healthy."""

    state: str
    reason: NotRequired[str]


class PastStatus(TypedDict):
    """A status as the status service keeps it."""

    state: str
    worker_id: str
    generation: int
    trace: NotRequired[str]
    version: NotRequired[str]


class ConnectorStateInfo(TypedDict):
    """A connector's status and those of its tasks, by index."""

    name: str
    connector: ConnectorState
    tasks: list[TaskState]
    type: str
    health: NotRequired[Health]


def connector_state_info(status: status_pb2.ConnectorStatus, kind: str, lost: str = "") -> ConnectorStateInfo:
    """Return a connector's status, with what Copycat adds; no connector is well whose log is `lost`."""
    shown: ConnectorStateInfo = {
        "name": status.connector,
        "connector": {**_connector_state(status.status), **_additions(status.status)},
        "tasks": [task_state(task, status.tasks[task]) for task in sorted(status.tasks)],
        "type": kind,
    }
    if status.health:
        shown["health"] = _health(status)
    if lost:
        health = shown.get("health", {"state": DEGRADED})
        state = health["state"] if health["state"] == FAILED else DEGRADED
        shown["health"] = {"state": state, "reason": "; ".join(filter(None, (lost, health.get("reason"))))}
    return shown


def restarting_state_info(
    status: status_pb2.ConnectorStatus, kind: str, restarting: Container[int]
) -> ConnectorStateInfo:
    """Return a connector's status in Kafka Connect's fields alone; instances in `restarting` show RESTARTING.

    Workers of Kafka Connect read this answer of each other, and refuse fields that they do not know.
    """
    tasks = [_task_state(task, status.tasks[task]) for task in sorted(status.tasks)]
    for task in tasks:
        if task["id"] in restarting:
            task["state"] = RESTARTING
    connector = _connector_state(status.status)
    if CONNECTOR in restarting:
        connector["state"] = RESTARTING
    return {"name": status.connector, "connector": connector, "tasks": tasks, "type": kind}


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
    return {"name": name, "connector": own, "tasks": tasks, "type": kind}


def task_state(task: int, status: status_pb2.Status) -> TaskState:
    """Return a task's status, with what Copycat adds."""
    return {**_task_state(task, status), **_additions(status)}


def _task_state(task: int, status: status_pb2.Status) -> TaskState:
    shown: TaskState = {"id": task, "state": STATES[status.state], "worker_id": status.worker_id}
    if status.version:
        shown["version"] = status.version
    if status.trace:
        shown["trace"] = status.trace
    return shown


def _connector_state(status: status_pb2.Status) -> ConnectorState:
    shown: ConnectorState = {"state": STATES[status.state], "worker_id": status.worker_id}
    if status.version:
        shown["version"] = status.version
    if status.trace:
        shown["trace"] = status.trace
    return shown


def _additions(status: status_pb2.Status) -> Additions:
    shown: Additions = {"generation": status.generation}
    if status.since_ms > 0:
        shown = {"since": _iso(status.since_ms), **shown}
    if status.reason:
        shown["reason"] = status.reason
    return shown


def _health(status: status_pb2.ConnectorStatus) -> Health:
    shown: Health = {"state": LEVELS[status.health]}
    if status.health_reason:
        shown["reason"] = status.health_reason
    return shown


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
