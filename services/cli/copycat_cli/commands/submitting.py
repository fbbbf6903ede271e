"""Configurations on their way to the cluster: `copycat create`, `apply`, `diff`, `validate`, `edit`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from copycat_connect.config.properties import format_properties

from copycat_cli.api.connectors import get_config_at, get_connector, put_config
from copycat_cli.api.statuses import RUNNING
from copycat_cli.api.workers import errors_by_key
from copycat_cli.command import FILE, cluster_command, confirm, connector_argument, file_argument
from copycat_cli.configuration import (
    CHANGED,
    CREATED,
    UNCHANGED,
    Applied,
    apply,
    changes,
    check,
    create,
    secret_keys,
    slips,
    table_of,
    validation,
)
from copycat_cli.connector_files import parse_connector, read_connector_file
from copycat_cli.errors import (
    CliError,
    ConnectorFileError,
    ExitCode,
    InvalidConfigError,
    RefusedError,
    UsageError,
)
from copycat_cli.output.blocks import Block, TableBlock, TextBlock
from copycat_cli.session import CommandSession

files_argument = click.argument("files", type=FILE, nargs=-1, required=True)


@cluster_command("create")
@files_argument
def create_connectors(session: CommandSession, files: Sequence[Path]) -> None:
    """Create connectors from files.

    Refused where one of the name exists: see `copycat apply`.

    A file is .properties (key=value lines) or JSON; `-` reads standard input. It needs name, connector.class
    and the keys of that class: `copycat plugins` lists the classes, `copycat plugins CLASS` their keys.

    \b
    lines.properties:                      the same as lines.json:
      name=lines                             {"name": "lines", "config": {
      connector.class=FileStreamSource         "connector.class": "FileStreamSource",
      tasks.max=1                              "tasks.max": 1,
      file=/tmp/in.txt                         "file": "/tmp/in.txt",
      topic=lines                              "topic": "lines"},
                                              "initial_state": "RUNNING"}

    initial_state (RUNNING, PAUSED or STOPPED) may be left out, as may the map around config.

    \b
    Examples:
      copycat create lines.properties
      copycat create source.json sink.json
      cat lines.json | copycat create -
    """
    _submit(session, files, created_only=True)


@cluster_command("apply")
@files_argument
def apply_files(session: CommandSession, files: Sequence[Path]) -> None:
    """Create connectors from files, or change them.

    Says what changed. Applying the same file again changes nothing. The whole configuration is replaced: a
    key the file lacks is removed. A paused or stopped connector stays so; initial_state counts only where
    it is created. Files look as for `copycat create --help`. Look first with `copycat diff FILE`.

    \b
    Examples:
      copycat apply lines.properties
      copycat apply connectors/*.json
      copycat describe lines -o json | sed s/old/new/ | copycat apply -
    """
    _submit(session, files, created_only=False)


def _submit(session: CommandSession, files: Sequence[Path], *, created_only: bool) -> None:
    wanted = [read_connector_file(path) for path in files]  # all are read before any is sent
    done: list[Applied] = []
    try:
        for file in wanted:
            done.append(create(session.rest, file) if created_only else apply(session.rest, file))
    except CliError:
        if done:  # those before the one that was refused are done all the same
            _show(session, done)
        raise
    _show(session, done)
    names = [each.name for each in done]
    if any(each.result in {CREATED, CHANGED} for each in done):
        session.next(
            (session.command("status", *names, options=("--wait-for", RUNNING)), "wait until it runs")
        )
    else:
        session.next((session.command("status", *names), "see how it is"))


def _show(session: CommandSession, done: Sequence[Applied]) -> None:
    session.printer.show(done, *(block for each in done for block in _blocks(each)))


def _blocks(done: Applied) -> list[Block]:
    lines = TextBlock((f"{done.name} {done.result}", *(f"  note: {note}" for note in done.notes)))
    return [lines, table_of(done.changes, "BEFORE", "NOW")] if done.changes else [lines]


@cluster_command("diff")
@click.argument("file", metavar="FILE|CONNECTOR", type=click.Path(allow_dash=True, path_type=Path))
@click.option(
    "--at",
    metavar="TIME",
    help="Name a connector, and a time to compare with: 2026-11-20T10:00Z, or 2h (ago).",
)
@click.pass_context
def diff(ctx: click.Context, session: CommandSession, file: Path, at: str | None) -> None:
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


def _diff_in_time(ctx: click.Context, session: CommandSession, connector: str, at: str) -> None:
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
def validate(ctx: click.Context, session: CommandSession, file: Path) -> None:
    """Have the cluster check a file; nothing is changed.

    Ends with 0 when it is valid, 4 when not. Each error is listed with its key and the reason.

    \b
    Examples:
      copycat validate lines.properties
      copycat validate lines.json -o json | jq .errors
    """
    wanted = read_connector_file(file)
    found = validation(session.rest, wanted.config)
    reasons, notes = errors_by_key(found), slips(found, wanted.config)
    tree = {"name": wanted.name, "valid": not reasons, "errors": reasons, "notes": notes}
    noted = TextBlock([f"note: {note}" for note in notes])
    if not reasons:
        session.printer.did(tree, f"{wanted.name}: {wanted.shown} is valid", *noted.lines)
        session.next((session.command("apply", str(file)), "create or change the connector"))
        return
    rows = [(key, reason) for key, listed in reasons.items() for reason in listed]
    heading = f"{wanted.name}: {wanted.shown} is invalid, {len(rows)} error(s)"
    session.printer.show(tree, TableBlock(("KEY", "REASON"), rows, heading), noted)
    session.next((session.command("plugins", found.name), "every key, with its default"))
    ctx.exit(ExitCode.REFUSED)


_HEADING = """Configuration of the connector {name}: one key=value a line.
Lines that begin with # do not count. Save and close the editor to check and apply it;
leave it as it is to change nothing."""


@dataclass(frozen=True, slots=True)
class _Edited:
    """A configuration that was found valid."""

    config: dict[str, str]
    notes: tuple[str, ...]


@cluster_command("edit")
@connector_argument
def edit(session: CommandSession, connector: str) -> None:
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
        {key: value or "" for key, value in sorted(stored.items())}, _HEADING.format(name=connector)
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
    lines = TextBlock((f"{connector} {CHANGED}", *(f"  note: {note}" for note in edited.notes)))
    session.printer.show(tree, lines, table_of(found, "BEFORE", "NOW"))
    session.next(
        (session.command("status", connector, options=("--wait-for", RUNNING)), "wait until it runs")
    )


def _edited(session: CommandSession, connector: str, text: str) -> _Edited | None:
    """Return a valid configuration, asking again while it is not; None when the text was left as it is."""
    offered = text
    while (saved := _in_editor(offered)) != text:
        try:
            config = parse_connector(saved, Path(f"the configuration of {connector}")).config
            return _Edited(config, check(session.rest, config))
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


def _kept(session: CommandSession, text: str, error: InvalidConfigError | ConnectorFileError) -> RefusedError:
    with tempfile.NamedTemporaryFile("w", suffix=".properties", delete=False, encoding="utf-8") as file:
        file.write(text)
    how = f"Your text is kept; fix it, then: {session.command('apply', file.name)}"
    return RefusedError(f"{error.message}\nNothing was changed. {how}")
