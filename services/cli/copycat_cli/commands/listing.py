"""`copycat list`."""

from __future__ import annotations

from collections import Counter

from copycat_cli.api.statuses import Expanded, overview
from copycat_cli.command import cluster_command
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session

COLUMNS = ("NAME", "TYPE", "STATE", "TASKS", "CLASS")


@cluster_command("list")
def list_connectors(session: Session) -> None:
    """List the connectors: type, state, tasks, class.

    \b
    Examples:
      copycat list
      copycat list -o json | jq -r '.[].name'
    """
    found = overview(session.rest)
    rows = [_row(each) for each in found]
    session.printer.show(
        [{"name": e.info.name, "class": e.info.config.get("connector.class"), **_states(e)} for e in found],
        Table(COLUMNS, rows, empty="There are no connectors yet."),
    )
    if not found:
        session.next(
            (session.command("plugins"), "what connectors could do here"),
            ("copycat create --help", "how to make one"),
        )
    elif failed := [each.info.name for each in found if each.status.failed]:
        session.next((session.command("describe", failed[0]), "why it failed"))
    else:
        session.next((session.command("status", options=("--watch",)), "see them work"))


def _row(each: Expanded) -> tuple[str, ...]:
    counted = Counter(task.state for task in each.status.tasks)
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(counted.items())) or "none"
    return (each.info.name, each.status.type, each.status.connector.state, tasks, each.info.class_name)


def _states(each: Expanded) -> dict[str, object]:
    return {
        "type": each.status.type,
        "state": each.status.connector.state,
        "tasks": [{"id": task.id, "state": task.state} for task in each.status.tasks],
    }
