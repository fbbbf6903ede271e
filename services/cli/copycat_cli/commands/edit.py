"""`copycat edit`: a connector's configuration in the user's editor."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
from copycat_connect.config.properties import format_properties

from copycat_cli.api.connectors import get_connector, put_config
from copycat_cli.api.statuses import RUNNING
from copycat_cli.arguments import connector_argument
from copycat_cli.asking import confirm
from copycat_cli.changes import changes, table_of
from copycat_cli.command import cluster_command
from copycat_cli.connector_files import parse_connector
from copycat_cli.errors import ConnectorFileError, InvalidConfigError, RefusedError, UsageError
from copycat_cli.hidden import secret_keys
from copycat_cli.output.blocks import Lines
from copycat_cli.session import Session
from copycat_cli.submission import CHANGED, UNCHANGED, check

HEADING = """Configuration of the connector {name}: one key=value a line.
Lines that begin with # do not count. Save and close the editor to check and apply it;
leave it as it is to change nothing."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A configuration that was found valid."""

    config: dict[str, str]
    notes: tuple[str, ...]


@cluster_command("edit")
@connector_argument
def edit(session: Session, connector: str) -> None:
    """Change a connector's configuration in your editor.

    The editor is that of $VISUAL or $EDITOR. What you save is checked first. If it is invalid nothing is
    changed: on a terminal the editor opens again with the reasons in it; else the text is kept in a file
    that can be applied once it is fixed.

    \b
    Examples:
      copycat edit lines
      EDITOR="sed -i s/tasks.max=1/tasks.max=2/" copycat edit lines
    """
    stored = get_connector(session.rest, connector).config
    text = format_properties(
        {key: value or "" for key, value in sorted(stored.items())}, HEADING.format(name=connector)
    )
    edited = _edited(session, connector, text)
    found = changes(stored, edited.config, secret_keys(session.rest, edited.config)) if edited else ()
    tree = {"name": connector, "result": CHANGED if found else UNCHANGED, "changes": found}
    if not edited or not found:
        session.printer.did(tree, f"{connector} {UNCHANGED}")
        return
    if get_connector(session.rest, connector).config != stored:
        raise RefusedError(
            f"Somebody else changed {connector} meanwhile; nothing was changed. Edit it again."
        )
    put_config(session.rest, connector, edited.config)
    lines = Lines((f"{connector} {CHANGED}", *(f"  note: {note}" for note in edited.notes)))
    session.printer.show(tree, lines, table_of(found, "BEFORE", "NOW"))
    session.next(
        (session.command("status", connector, options=("--wait-for", RUNNING)), "wait until it runs")
    )


def _edited(session: Session, connector: str, text: str) -> Edited | None:
    """Return a valid configuration, asking again while it is not; None when the text was left as it is."""
    offered = text
    while (saved := _in_editor(offered)) != text:
        try:
            config = parse_connector(saved, Path(f"the configuration of {connector}")).config
            return Edited(config, check(session.rest, config))
        except (InvalidConfigError, ConnectorFileError) as error:
            if not sys.stdin.isatty():
                raise _kept(session, saved, error) from error
            click.echo(error.message, err=True)
            confirm("Edit it again?", default=True)
            offered = "".join(f"# {line}\n" for line in error.message.splitlines()) + saved
    return None


def _in_editor(text: str) -> str:
    try:
        return click.edit(text, extension=".properties", require_save=False) or ""
    except click.ClickException as error:
        raise UsageError(f"{error.message}. Name your editor in EDITOR, e.g. EDITOR=nano") from error


def _kept(session: Session, text: str, error: InvalidConfigError | ConnectorFileError) -> RefusedError:
    with tempfile.NamedTemporaryFile("w", suffix=".properties", delete=False, encoding="utf-8") as file:
        file.write(text)
    how = f"Your text is kept; fix it, then: {session.command('apply', file.name)}"
    return RefusedError(f"{error.message}\nNothing was changed. {how}")
