"""The life of a connector: `copycat pause`, `resume`, `stop`, `restart`, `delete`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from copycat_cli.api.connectors import IN_NO_PATH, delete_connector, get_connector, restart_task, set_state
from copycat_cli.api.statuses import RUNNING, restart_connector
from copycat_cli.command import cluster_command, confirm, connector_argument, connectors_argument, yes_option
from copycat_cli.errors import UsageError
from copycat_cli.session import CommandSession

_SEVERAL = connectors_argument(required=True)


@cluster_command("pause")
@_SEVERAL
def pause(session: CommandSession, connectors: Sequence[str]) -> None:
    """Pause connectors.

    Tasks stay where they are and move nothing until resumed.

    \b
    Examples:
      copycat pause lines
      copycat pause lines orders && copycat status lines orders --wait-for PAUSED
    """
    _order(session, connectors, "pause", "PAUSED")


@cluster_command("resume")
@_SEVERAL
def resume(session: CommandSession, connectors: Sequence[str]) -> None:
    """Let paused or stopped connectors run again.

    They go on from where they were.

    \b
    Examples:
      copycat resume lines
      copycat resume lines && copycat status lines --wait-for RUNNING
    """
    _order(session, connectors, "resume", RUNNING)


@cluster_command("stop")
@_SEVERAL
def stop(session: CommandSession, connectors: Sequence[str]) -> None:
    """Stop connectors; their configuration stays.

    Tasks flush, commit and end. A stopped connector holds nothing; its offsets may be altered or reset.
    `copycat resume` starts it again.

    \b
    Examples:
      copycat stop lines
      copycat stop lines && copycat status lines --wait-for STOPPED
    """
    _order(session, connectors, "stop", "STOPPED")


def _order(session: CommandSession, connectors: Sequence[str], order: str, target: str) -> None:
    for name in connectors:
        get_connector(session.rest, name)  # all are there before any gets its order
    for name in connectors:
        set_state(session.rest, name, order)
    tree = [{"name": name, "order": order, "becomes": target} for name in connectors]
    session.printer.did(tree, *(f"{name} was told to {order}; it becomes {target}" for name in connectors))
    wait = session.command("status", *connectors, options=("--wait-for", target))
    steps = [(wait, f"wait until it is {target}")]
    if order == "stop":
        steps.append((session.command("offsets get", connectors[0]), "how far it came"))
    if order != "resume":
        steps.append((session.command("resume", *connectors), "let it run again"))
    session.next(*steps)


@cluster_command("restart")
@connector_argument
@click.option("--include-tasks", is_flag=True, help="The tasks too, not only the connector.")
@click.option("--only-failed", is_flag=True, help="Only what is FAILED.")
@click.option("--task", type=click.IntRange(0), metavar="N", help="This one task, and nothing else.")
def restart(
    session: CommandSession, connector: str, include_tasks: bool, only_failed: bool, task: int | None
) -> None:
    """Restart a connector, its tasks, or only what failed.

    Without options the connector itself is restarted and its tasks are left alone.

    \b
    Examples:
      copycat restart lines --include-tasks --only-failed    # after a failure
      copycat restart lines --task 0
      copycat restart lines
    """
    if task is not None and (include_tasks or only_failed):
        raise UsageError("--task restarts one task; leave out --include-tasks and --only-failed")
    if task is not None:
        restart_task(session.rest, connector, task)
        restarted = [f"task {task}"]
    else:
        restarted = restart_connector(
            session.rest, connector, include_tasks=include_tasks, only_failed=only_failed
        )
    what = ", ".join(restarted) or "nothing of it, since nothing failed"
    session.printer.did({"name": connector, "restarted": restarted}, f"{connector}: restarted {what}")
    session.next(
        (session.command("status", connector, options=("--wait-for", RUNNING)), "wait until it runs")
    )


@cluster_command("delete")
@connectors_argument(required=True)
@yes_option("Delete")
def delete(session: CommandSession, connectors: Sequence[str], yes: bool) -> None:
    """Delete connectors, after a question.

    --yes leaves the question out. Tasks flush, commit and end. Topics and offsets stay: a connector created
    again under the name goes on where this one ended. To start over instead: stop, `copycat offsets reset`,
    then delete.

    \b
    Examples:
      copycat delete lines
      copycat delete lines orders --yes
    """
    for name in connectors:
        if name not in IN_NO_PATH:
            get_connector(session.rest, name)  # all are there before any is deleted
    if not yes:
        confirm(f"Delete {', '.join(connectors)}?")
    for name in connectors:
        delete_connector(session.rest, name)
    tree = [{"name": name, "result": "deleted"} for name in connectors]
    session.printer.did(tree, *(f"{name} deleted; its topics and offsets stay" for name in connectors))
    session.next((session.command("list"), "what is left"))
