"""`copycat rollback`: a connector's configuration as it was at a time."""

from __future__ import annotations

import click

from copycat_cli.api.connectors import get_connector, put_config
from copycat_cli.api.history import get_config_at
from copycat_cli.api.statuses import RUNNING
from copycat_cli.arguments import connector_argument, dry_run_option, yes_option
from copycat_cli.asking import confirm_on_terminal
from copycat_cli.changes import changes, table_of
from copycat_cli.command import cluster_command
from copycat_cli.errors import NotFoundError, RefusedError
from copycat_cli.hidden import secret_keys
from copycat_cli.output.blocks import Lines
from copycat_cli.session import Session
from copycat_cli.submission import CHANGED, CREATED, UNCHANGED, check


@cluster_command("rollback")
@connector_argument
@click.option(
    "--to",
    "time",
    required=True,
    metavar="TIME",
    help="When it was as it should be again: 2026-11-20T10:00Z, or 2h (ago).",
)
@dry_run_option
@yes_option("Roll back")
def rollback(session: Session, connector: str, time: str, dry_run: bool, yes: bool) -> None:
    """Make a connector's configuration as it was at a time.

    Shows first what would change, and asks; the old configuration is checked as a new one is. Offsets and the
    target state stay as they are. A connector that was deleted is created again.

    \b
    Examples:
      copycat rollback lines --to 2h --dry-run
      copycat rollback lines --to 2h
      copycat rollback lines --to 2026-11-20T10:00Z --yes
    """
    then = {
        key: value for key, value in get_config_at(session.rest, connector, time).items() if value is not None
    }
    stored = _stored(session, connector)
    found = changes(stored or {}, then, secret_keys(session.rest, then))
    result = CREATED if stored is None else CHANGED if found else UNCHANGED
    tree = {"name": connector, "result": result, "changes": found}
    if result == UNCHANGED:
        session.printer.did(tree, f"{connector} {UNCHANGED}: it is as it was then")
        return
    notes = check(session.rest, then)
    table = table_of(found, "NOW", "THEN", f"{connector}: {len(found)} difference(s)")
    if dry_run:
        session.printer.show({**tree, "dry_run": True}, table)
        return
    if not yes:
        session.printer.show_first(table)
        confirm_on_terminal(f"Roll {connector} back?")
    if _stored(session, connector) != stored:
        raise RefusedError(f"Somebody else changed {connector} meanwhile; nothing was changed. Try again.")
    put_config(session.rest, connector, then)
    session.printer.show(
        tree, Lines((f"{connector} {result}", *(f"  note: {note}" for note in notes))), table
    )
    session.next(
        (session.command("status", connector, options=("--wait-for", RUNNING)), "wait until it runs")
    )


def _stored(session: Session, connector: str) -> dict[str, str | None] | None:
    try:
        return get_connector(session.rest, connector).config
    except NotFoundError:
        return None
