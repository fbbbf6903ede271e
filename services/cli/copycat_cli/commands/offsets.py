"""`copycat offsets`: show, alter, move, reset, undo."""

from __future__ import annotations

import click

from copycat_cli.api.offsets import get_offsets
from copycat_cli.arguments import connector_argument
from copycat_cli.command import cluster_command
from copycat_cli.commands.offset_changes import alter, move, reset, undo
from copycat_cli.commands.offset_effects import offset_text
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session


@cluster_command("get")
@connector_argument
def get(session: Session, connector: str) -> None:
    """Show the committed offsets.

    Of a source: how far it has read; of a sink: up to which record it has written.

    \b
    Examples:
      copycat offsets get lines
      copycat offsets get lines -o json > offsets.json    # edit it, then: copycat offsets alter
    """
    found = get_offsets(session.rest, connector)
    rows = [(offset_text(entry.partition), offset_text(entry.offset)) for entry in found.offsets]
    session.printer.show(
        found, Table(("PARTITION", "OFFSET"), rows, empty=f"{connector} has no offsets yet.")
    )
    session.next(
        (session.command("offsets move", options=("--help",)), "how to go back by a time"),
        (session.command("offsets reset", options=("--help",)), "how to begin again from the start"),
    )


@click.group(commands=[get, alter, move, reset, undo])
def offsets() -> None:
    """Show or change how far a connector came.

    Every change shows first what it would repeat and skip, and asks; --dry-run only shows it, --yes does not
    ask. Where nobody can be asked, in a script, one of the two is needed.

    \b
    To let a connector do the last two hours again:
      copycat offsets move lines --rewind 2h --dry-run
      copycat stop lines
      copycat status lines --wait-for STOPPED
      copycat offsets move lines --rewind 2h
      copycat resume lines

    \b
    To take that back, as long as it has not run on from there:
      copycat offsets undo lines

    \b
    To let a connector begin again from its start:
      copycat offsets reset lines
    """
