"""How a connector is as a whole, since when, and why; as tables and lines show it."""

from __future__ import annotations

from collections.abc import Iterator

from copycat_cli.api.statuses import Health, State, Status
from copycat_cli.output.blocks import Block, Table


def instances(status: Status) -> Iterator[tuple[str, State]]:
    """Yield the connector and its tasks, each with its name in a table."""
    yield "connector", status.connector
    for task in status.tasks:
        yield f"task {task.id}", task


def why(status: Status, instance: State) -> str:
    """Return why an instance is not plainly RUNNING; of the connector, how all of it is."""
    if instance is status.connector and not instance.reason and isinstance(status.health, Health):
        return status.health.line
    return instance.reason


def health_block(status: Status) -> Iterator[Block]:
    """Yield a table of the health with its reasons; nothing where the cluster does not report it."""
    if not isinstance(status.health, Health):
        return
    rows = [("all of it", status.health.state, "", status.health.reason)]
    rows += [(name, at.state, at.since, at.reason) for name, at in instances(status)]
    yield Table(("", "HEALTH OR STATE", "SINCE", "WHY"), rows, "Health")
