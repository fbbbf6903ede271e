"""`copycat pause`, `resume` and `stop`."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_cli.api.connectors import get_connector, set_state
from copycat_cli.api.statuses import RUNNING
from copycat_cli.arguments import connectors_argument
from copycat_cli.command import cluster_command
from copycat_cli.session import Session

SEVERAL = connectors_argument(required=True)


@cluster_command("pause")
@SEVERAL
def pause(session: Session, connectors: Sequence[str]) -> None:
    """Pause connectors.

    Tasks stay where they are and move nothing until resumed.

    \b
    Examples:
      copycat pause lines
      copycat pause lines orders && copycat status lines orders --wait-for PAUSED
    """
    _order(session, connectors, "pause", "PAUSED")


@cluster_command("resume")
@SEVERAL
def resume(session: Session, connectors: Sequence[str]) -> None:
    """Let paused or stopped connectors run again.

    They go on from where they were.

    \b
    Examples:
      copycat resume lines
      copycat resume lines && copycat status lines --wait-for RUNNING
    """
    _order(session, connectors, "resume", RUNNING)


@cluster_command("stop")
@SEVERAL
def stop(session: Session, connectors: Sequence[str]) -> None:
    """Stop connectors; their configuration stays.

    Tasks flush, commit and end. A stopped connector holds nothing; its offsets may be altered or reset.
    `copycat resume` starts it again.

    \b
    Examples:
      copycat stop lines
      copycat stop lines && copycat status lines --wait-for STOPPED
    """
    _order(session, connectors, "stop", "STOPPED")


def _order(session: Session, connectors: Sequence[str], order: str, target: str) -> None:
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
