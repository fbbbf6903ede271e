"""`copycat create` and `copycat apply`: connectors from files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from copycat_cli.api.statuses import RUNNING
from copycat_cli.arguments import FILE
from copycat_cli.changes import table_of
from copycat_cli.command import cluster_command
from copycat_cli.connector_files import read_connector_file
from copycat_cli.errors import CliError
from copycat_cli.output.blocks import Block, Lines
from copycat_cli.session import Session
from copycat_cli.submission import CHANGED, CREATED, Applied, apply, create

files_argument = click.argument("files", type=FILE, nargs=-1, required=True)


@cluster_command("create")
@files_argument
def create_connectors(session: Session, files: Sequence[Path]) -> None:
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
def apply_files(session: Session, files: Sequence[Path]) -> None:
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


def _submit(session: Session, files: Sequence[Path], *, created_only: bool) -> None:
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


def _show(session: Session, done: Sequence[Applied]) -> None:
    session.printer.show(done, *(block for each in done for block in _blocks(each)))


def _blocks(done: Applied) -> list[Block]:
    lines = Lines((f"{done.name} {done.result}", *(f"  note: {note}" for note in done.notes)))
    return [lines, table_of(done.changes, "BEFORE", "NOW")] if done.changes else [lines]
