"""`copycat diff` and `copycat validate`: a file against the cluster, before anything is changed."""

from __future__ import annotations

from pathlib import Path

import click

from copycat_cli.api.connectors import get_connector
from copycat_cli.api.history import get_config_at
from copycat_cli.arguments import FILE, file_argument
from copycat_cli.changes import changes, table_of
from copycat_cli.command import cluster_command
from copycat_cli.connector_files import read_connector_file
from copycat_cli.exits import ExitCode
from copycat_cli.hidden import secret_keys
from copycat_cli.output.blocks import Lines, Table
from copycat_cli.session import Session
from copycat_cli.submission import slips, validation


@cluster_command("diff")
@click.argument("file", metavar="FILE|CONNECTOR", type=click.Path(allow_dash=True, path_type=Path))
@click.option(
    "--at",
    metavar="TIME",
    help="Name a connector, and a time to compare with: 2026-11-20T10:00Z, or 2h (ago).",
)
@click.pass_context
def diff(ctx: click.Context, session: Session, file: Path, at: str | None) -> None:
    """Show how a file or an earlier time differs from the cluster.

    Ends with 0 when they are the same, 1 when they differ, 3 when there is no such connector. `+` is in the
    file only, `-` in the cluster only, `~` in both with other values. `copycat apply` makes the cluster as
    the file.

    \b
    Examples:
      copycat diff lines.properties
      copycat diff lines.json || copycat apply lines.json
      copycat diff lines --at 2h       # what has changed since
    """
    if at is not None:
        _diff_in_time(ctx, session, str(file), at)
        return
    wanted = read_connector_file(Path(str(FILE.convert(file, None, ctx))))
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


def _diff_in_time(ctx: click.Context, session: Session, connector: str, at: str) -> None:
    then = get_config_at(session.rest, connector, at)
    stored = get_connector(session.rest, connector).config
    found = changes(then, stored, secret_keys(session.rest, stored))
    tree = {"name": connector, "changes": found}
    if not found:
        session.printer.did(tree, f"{connector} is configured as it was then")
        return
    session.printer.show(tree, table_of(found, "THEN", "NOW", f"{connector}: {len(found)} difference(s)"))
    session.next((session.command("rollback", connector, options=("--to", at)), "make it as it was then"))
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
