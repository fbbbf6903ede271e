"""What a connector was before: `copycat history`, and `copycat rollback` to an earlier configuration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import click
from copycat_connect.cluster import Config
from copycat_rest.answers import ShownChange
from msgspec import UNSET

from copycat_cli.api.connectors import KINDS, author, get_config_at, get_connector, get_history, put_config
from copycat_cli.api.statuses import RUNNING
from copycat_cli.command import (
    cluster_command,
    confirm_on_terminal,
    connector_argument,
    dry_run_option,
    yes_option,
)
from copycat_cli.configuration import CHANGED, CREATED, UNCHANGED, changes, check, secret_keys, table_of
from copycat_cli.errors import RefusedError, UnknownNameError
from copycat_cli.output.blocks import TableBlock, TextBlock
from copycat_cli.session import CommandSession

MAX_TOLD: Final = 80
DEFAULT_CHANGES: Final = 20


@cluster_command("history")
@connector_argument
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only changes of this kind; can be given several times. Without it all but commit.",
)
@click.option("--from", "since", metavar="TIME", help="Not before this time: 2026-11-20T10:00Z, or 2h (ago).")
@click.option("--to", "until", metavar="TIME", help="Not after this time: 2026-11-20T10:00Z, or 2h (ago).")
@click.option("--before", metavar="ID", help="The page after the one that ended with this change.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=DEFAULT_CHANGES,
    show_default=True,
    help="How many changes.",
)
def history(
    session: CommandSession,
    connector: str,
    *,
    kinds: Sequence[str],
    since: str | None,
    until: str | None,
    before: str | None,
    limit: int,
) -> None:
    """Show what changed about a connector, and who did it.

    Newest first: configurations, target states, states, offsets that somebody moved, and what Copycat did by
    itself. A connector that was deleted still has a history.

    Passwords are hidden in the table; -o json shows what the cluster answers.

    \b
    Examples:
      copycat history lines
      copycat history lines --kind config --from 7d
      copycat diff lines --at 2h            # what is different since
      copycat rollback lines --to 2h        # as it was then
    """
    found = get_history(
        session.rest, connector, kinds=kinds, since=since, until=until, before=before, limit=limit
    )
    rows = [(each.time, each.kind, told(each), author(each.by)) for each in found.changes]
    empty = f"Nothing is known of {connector} in that time."
    session.printer.show(found, TableBlock(("TIME", "KIND", "WHAT", "BY"), rows, empty=empty))
    if found.next is not None:
        session.next(
            (session.command("history", connector, options=("--before", found.next)), "what was before that")
        )


def told(change: ShownChange) -> str:
    """Return a change in one line; of configurations the keys, never a value."""
    where = "" if change.task is UNSET else f"task {change.task} "
    match change.kind:
        case "config":
            return f"{change.what}{_keys(change.before, change.after)}"
        case "target_state":
            return str(change.after)
        case "status":
            return f"{where}{change.what}"
        case "commit":
            return f"{_short(change.partition)}: {_short(change.after)}"
        case "offsets":
            moves = (change.about or {}).get("moves", [])
            return f"{change.what}, {len(moves)} partition(s)"
        case _:
            return f"{where}{change.what}: {change.reason}" if change.reason else f"{where}{change.what}"


def _keys(before: object, after: object) -> str:
    """Name the keys that differ; nothing where one side is not known."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    keys = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    return f": {', '.join(keys)}" if keys else ""


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_TOLD else f"{text[:MAX_TOLD]}..."


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
def rollback(session: CommandSession, connector: str, time: str, dry_run: bool, yes: bool) -> None:
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
        tree, TextBlock((f"{connector} {result}", *(f"  note: {note}" for note in notes))), table
    )
    session.next(
        (session.command("status", connector, options=("--wait-for", RUNNING)), "wait until it runs")
    )


def _stored(session: CommandSession, connector: str) -> Config | None:
    try:
        return get_connector(session.rest, connector).config
    except UnknownNameError:
        return None
