"""`copycat restart`."""

from __future__ import annotations

import click

from copycat_cli.api.connectors import restart_task
from copycat_cli.api.statuses import RUNNING, restart_connector
from copycat_cli.arguments import connector_argument
from copycat_cli.command import cluster_command
from copycat_cli.errors import UsageError
from copycat_cli.session import Session


@cluster_command("restart")
@connector_argument
@click.option("--include-tasks", is_flag=True, help="The tasks too, not only the connector.")
@click.option("--only-failed", is_flag=True, help="Only what is FAILED.")
@click.option("--task", type=click.IntRange(0), metavar="N", help="This one task, and nothing else.")
def restart(
    session: Session, connector: str, include_tasks: bool, only_failed: bool, task: int | None
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
