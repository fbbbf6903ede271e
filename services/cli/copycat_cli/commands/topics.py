"""`copycat topics`: which topics a connector has used."""

from __future__ import annotations

import click

from copycat_cli.api.connectors import active_topics, get_connector, reset_topics
from copycat_cli.command import cluster_command, connector_argument
from copycat_cli.output.blocks import TableBlock
from copycat_cli.session import CommandSession


@cluster_command("get")
@connector_argument
def get(session: CommandSession, connector: str) -> None:
    """Show the topics a connector has written to or read from.

    Since it was created, or since they were reset.

    \b
    Example:
      copycat topics get lines
    """
    get_connector(session.rest, connector)  # of an unknown one the cluster says that it used none
    found = active_topics(session.rest, connector)
    rows = [(topic,) for topic in found]
    empty = f"{connector} has used no topics yet."
    session.printer.show({"name": connector, "topics": found}, TableBlock(("TOPIC",), rows, empty=empty))
    session.next((session.command("topics reset", connector), "forget them"))


@cluster_command("reset")
@connector_argument
def reset(session: CommandSession, connector: str) -> None:
    """Forget which topics a connector has used.

    The topics themselves stay.

    \b
    Example:
      copycat topics reset lines
    """
    get_connector(session.rest, connector)
    reset_topics(session.rest, connector)
    tree = {"name": connector, "result": "reset"}
    session.printer.did(tree, f"{connector}: its used topics are forgotten; the topics themselves stay")
    session.next((session.command("topics get", connector), "those it has used since"))


@click.group(commands=[get, reset])
def topics() -> None:
    """Show or forget which topics a connector has used.

    \b
    Examples:
      copycat topics get lines
      copycat topics reset lines
    """
