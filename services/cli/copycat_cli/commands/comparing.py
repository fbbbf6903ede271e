"""`copycat diff` and `copycat validate`: a file against the cluster, before anything is changed."""

from __future__ import annotations

from pathlib import Path

import click

from copycat_cli.api.connectors import get_connector
from copycat_cli.arguments import file_argument
from copycat_cli.changes import changes, table_of
from copycat_cli.command import cluster_command
from copycat_cli.connector_files import read_connector_file
from copycat_cli.exits import ExitCode
from copycat_cli.hidden import secret_keys
from copycat_cli.output.blocks import Lines, Table
from copycat_cli.session import Session
from copycat_cli.submission import slips, validation


@cluster_command("diff")
@file_argument
@click.pass_context
def diff(ctx: click.Context, session: Session, file: Path) -> None:
    """Show how a file differs from the connector in the cluster.

    Ends with 0 when they are the same, 1 when they differ, 3 when there is no such connector. `+` is in the
    file only, `-` in the cluster only, `~` in both with other values. `copycat apply` makes the cluster as
    the file.

    \b
    Examples:
      copycat diff lines.properties
      copycat diff lines.json || copycat apply lines.json
    """
    wanted = read_connector_file(file)
    stored = get_connector(session.rest, wanted.name).config
    found = changes(stored, wanted.config, secret_keys(session.rest, wanted.config))
    tree = {"name": wanted.name, "changes": found}
    if not found:
        session.printer.did(tree, f"{wanted.name}: {wanted.shown} and the cluster are the same")
        return
    heading = f"{wanted.name}: {len(found)} difference(s)"
    session.printer.show(tree, table_of(found, "CLUSTER", "FILE", heading))
    session.next((session.command("apply", str(file)), "make the cluster as the file says"))
    ctx.exit(ExitCode.NO)


@cluster_command("validate")
@file_argument
@click.pass_context
def validate(ctx: click.Context, session: Session, file: Path) -> None:
    """Have the cluster check a file; nothing is changed.

    Ends with 0 when it is valid, 4 when not. Each error is listed with its key and the reason.

    \b
    Examples:
      copycat validate lines.properties
      copycat validate lines.json -o json | jq .errors
    """
    wanted = read_connector_file(file)
    found = validation(session.rest, wanted.config)
    reasons, notes = found.reasons, slips(found, wanted.config)
    tree = {"name": wanted.name, "valid": not reasons, "errors": reasons, "notes": notes}
    noted = Lines([f"note: {note}" for note in notes])
    if not reasons:
        session.printer.did(tree, f"{wanted.name}: {wanted.shown} is valid", *noted.lines)
        session.next((session.command("apply", str(file)), "create or change the connector"))
        return
    rows = [(key, reason) for key, listed in reasons.items() for reason in listed]
    heading = f"{wanted.name}: {wanted.shown} is invalid, {len(rows)} error(s)"
    session.printer.show(tree, Table(("KEY", "REASON"), rows, heading), noted)
    session.next((session.command("plugins", found.name), "every key, with its default"))
    ctx.exit(ExitCode.REFUSED)
