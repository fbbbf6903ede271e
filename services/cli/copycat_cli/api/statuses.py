"""`/connectors/NAME/status` and restarts: what connectors and tasks do, where, and why they failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from copycat_connect.trace_line import trace_line
from msgspec import UNSET, Struct, UnsetType, field

from copycat_cli.api.connectors import CONNECTORS, Connector, connector_names
from copycat_cli.errors import NotFoundError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

FAILED = "FAILED"
RUNNING = "RUNNING"
RESTARTING = "RESTARTING"
HEALTHY = "healthy"
UNKNOWN = "UNKNOWN"
"""Shown where a connector exists and has reported nothing yet."""


class State(Struct, frozen=True, omit_defaults=True):
    """What an instance does."""

    state: str
    worker_id: str = ""
    trace: str = ""
    since: str = ""
    generation: int = 0
    said: str = field(default="", name="reason")

    @property
    def reason(self) -> str:
        """Why it is not plainly RUNNING, in one line; Apache Kafka Connect has only the trace for that."""
        return self.said or trace_line(self.trace)


class TaskState(State, frozen=True, kw_only=True):
    """What a task does."""

    id: int


class Health(Struct, frozen=True, omit_defaults=True):
    """A connector summed up."""

    state: str
    reason: str = ""

    @property
    def line(self) -> str:
        """How it is and why, in one line; empty where all is well."""
        return "" if self.state == HEALTHY else f"{self.state}: {self.reason}"


class Status(Struct, frozen=True):
    """A connector's status and those of its tasks; Apache Kafka Connect does not sum it up."""

    name: str
    connector: State
    tasks: tuple[TaskState, ...] = ()
    type: str = "unknown"
    health: Health | UnsetType = UNSET

    @property
    def failed(self) -> tuple[State, ...]:
        """Whatever of it is FAILED."""
        return tuple(each for each in (self.connector, *self.tasks) if each.state == FAILED)


class Expanded(Struct, frozen=True):
    """A connector of a listing."""

    status: Status
    info: Connector


def get_status(rest: Rest, name: str) -> Status:
    """Return the status of a connector.

    Raises:
        NotFoundError: No connector has this name.
    """
    try:
        return rest.get(Status, CONNECTORS, name, "status")
    except NotFoundError:
        if name not in connector_names(rest):
            raise
        return Status(name, State(UNKNOWN))


def get_statuses(rest: Rest, names: Sequence[str]) -> list[Status]:
    """Return the status of these connectors; of all when none is named."""
    return [get_status(rest, name) for name in names or connector_names(rest)]


def overview(rest: Rest) -> list[Expanded]:
    """Return all connectors with their status, sorted by name."""
    found = rest.get(dict[str, Expanded], CONNECTORS, query={"expand": ["status", "info"]})
    missing = set(connector_names(rest)) - set(found)  # a connector without a status is not expanded
    found |= {name: Expanded(Status(name, State(UNKNOWN)), Connector(name, {})) for name in missing}
    return [found[name] for name in sorted(found)]


def restart_connector(rest: Rest, name: str, *, include_tasks: bool, only_failed: bool) -> list[str]:
    """Restart a connector, with its tasks or only what failed; returns what is restarted.

    Raises:
        CliError: It did not start.
    """
    flags = {"includeTasks": include_tasks, "onlyFailed": only_failed}
    query = {flag: "true" for flag, wanted in flags.items() if wanted}
    answer = rest.ask("POST", CONNECTORS, name, "restart", query=query)
    if not answer.content:
        return ["connector"]
    status = answer.read_as(Status)
    chosen = ["connector"] if status.connector.state == RESTARTING else []
    return chosen + [f"task {task.id}" for task in status.tasks if task.state == RESTARTING]
