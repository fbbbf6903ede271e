"""`copycat workers`."""

from __future__ import annotations

from copycat_rest.answers import WorkerInfo
from msgspec import UNSET

from copycat_cli.api.workers import list_workers
from copycat_cli.command import cluster_command
from copycat_cli.errors import UnknownNameError
from copycat_cli.output.blocks import TableBlock
from copycat_cli.session import CommandSession


@cluster_command("workers")
def workers(session: CommandSession) -> None:
    """List the live workers and what each of them runs.

    \b
    Examples:
      copycat workers
      copycat workers -o json
    """
    try:
        found = list_workers(session.rest)
    except UnknownNameError as error:
        where = "it is not Copycat; copycat status shows the workers of its tasks"
        raise UnknownNameError(f"This cluster does not list its workers: {where}") from error
    rows = [(each.worker_id, "leaving" if each.leaving else "live", _held(each)) for each in found]
    session.printer.show(found, TableBlock(("WORKER", "STATE", "RUNS"), rows, empty="No worker is live."))
    session.next((session.command("status"), "how the connectors and tasks are"))


def _held(worker: WorkerInfo) -> str:
    names = [
        each.connector if each.task is UNSET else f"{each.connector} task {each.task}" for each in worker.held
    ]
    return ", ".join(sorted(names)) or "nothing"
