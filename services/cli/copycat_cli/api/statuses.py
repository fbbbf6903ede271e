"""`/connectors/NAME/status` and restarts: what connectors and tasks do, where, and why they failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from copycat_connect.error_text import trace_line
from copycat_rest.answers import (
    ConnectorInfo,
    ConnectorState,
    ConnectorStateInfo,
    Expanded,
    Health,
    TaskState,
)

from copycat_cli.api.connectors import CONNECTORS, connector_names
from copycat_cli.errors import UnknownNameError

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

FAILED = "FAILED"
RUNNING = "RUNNING"
RESTARTING = "RESTARTING"
HEALTHY = "healthy"
UNKNOWN = "UNKNOWN"
"""Shown where a connector exists and has reported nothing yet."""


def reason(state: ConnectorState | TaskState) -> str:
    """Return in one line why it is not plainly RUNNING; Apache Kafka Connect has only the trace for that."""
    return state.reason or trace_line(state.trace or "")


def health_line(health: Health) -> str:
    """Return how a connector is and why, in one line; empty where all is well."""
    return "" if health.state == HEALTHY else f"{health.state}: {health.reason or ''}"


def instances(status: ConnectorStateInfo) -> list[ConnectorState | TaskState]:
    """Return the state of the connector itself and those of its tasks."""
    return [status.connector, *status.tasks]


def failed(status: ConnectorStateInfo) -> list[ConnectorState | TaskState]:
    """Return whatever of a connector is FAILED."""
    return [each for each in instances(status) if each.state == FAILED]


def unknown_status(name: str) -> ConnectorStateInfo:
    """Return the status of a connector that has reported nothing yet."""
    return ConnectorStateInfo(name, ConnectorState(UNKNOWN, ""), (), "unknown")


def get_status(rest: Rest, name: str) -> ConnectorStateInfo:
    """Return the status of a connector.

    Raises:
        NotFoundError: No connector has this name.
    """
    try:
        return rest.get(ConnectorStateInfo, CONNECTORS, name, "status")
    except UnknownNameError:
        if name not in connector_names(rest):
            raise
        return unknown_status(name)


def get_statuses(rest: Rest, names: Sequence[str]) -> list[ConnectorStateInfo]:
    """Return the status of these connectors; of all when none is named."""
    return [get_status(rest, name) for name in names or connector_names(rest)]


def overview(rest: Rest) -> list[tuple[ConnectorStateInfo, ConnectorInfo]]:
    """Return the status and the configuration of all connectors, sorted by name."""
    expanded = rest.get(dict[str, Expanded], CONNECTORS, query={"expand": ["status", "info"]})
    missing = set(connector_names(rest)) - set(expanded)  # a connector without a status is not expanded
    found = {name: (each.status, each.info) for name, each in expanded.items() if each.status and each.info}
    found |= {name: (unknown_status(name), ConnectorInfo(name, {}, (), "unknown")) for name in missing}
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
    status = answer.read_as(ConnectorStateInfo)
    chosen = ["connector"] if status.connector.state == RESTARTING else []
    return chosen + [f"task {task.id}" for task in status.tasks if task.state == RESTARTING]
