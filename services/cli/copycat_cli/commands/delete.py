"""`copycat delete`."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_cli.api.connectors import IN_NO_PATH, delete_connector, get_connector
from copycat_cli.arguments import connectors_argument, yes_option
from copycat_cli.asking import confirm
from copycat_cli.command import cluster_command
from copycat_cli.session import Session


@cluster_command("delete")
@connectors_argument(required=True)
@yes_option("Delete")
def delete(session: Session, connectors: Sequence[str], yes: bool) -> None:
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
