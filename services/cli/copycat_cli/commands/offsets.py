"""`copycat offsets`: show, alter, reset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from copycat_cli.api.connectors import get_connector
from copycat_cli.api.offsets import Offsets, alter_offsets, get_offsets, reset_offsets
from copycat_cli.api.statuses import get_status
from copycat_cli.arguments import connector_argument, file_argument, yes_option
from copycat_cli.asking import confirm
from copycat_cli.command import cluster_command
from copycat_cli.connector_files import read_text, shown
from copycat_cli.errors import RefusedError, UsageError
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session

STOPPED = "STOPPED"


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
    rows = [(_text(entry.partition), _text(entry.offset)) for entry in found.offsets]
    session.printer.show(
        found, Table(("PARTITION", "OFFSET"), rows, empty=f"{connector} has no offsets yet.")
    )
    session.next((session.command("offsets", "reset", "--help"), "how to begin again from the start"))


@cluster_command("alter")
@connector_argument
@file_argument
def alter(session: Session, connector: str, file: Path) -> None:
    """Alter offsets of a stopped connector.

    Those the file does not list stay. FILE is JSON as `copycat offsets get -o json` shows it; `-` reads
    standard input. An offset of null forgets its partition.

    \b
    A source:  {"offsets": [{"partition": {"filename": "/tmp/in.txt"}, "offset": {"position": 0}}]}
    A sink:    {"offsets": [{"partition": {"kafka_topic": "lines", "kafka_partition": 0},
                             "offset": {"kafka_offset": 100}}]}

    \b
    Examples:
      copycat stop lines && copycat status lines --wait-for STOPPED
      copycat offsets alter lines offsets.json
      copycat resume lines
    """
    wanted = _read(file)
    _tell(session, connector, lambda: alter_offsets(session.rest, connector, wanted))


@cluster_command("reset")
@connector_argument
@yes_option("Reset")
def reset(session: Session, connector: str, yes: bool) -> None:
    """Forget all offsets of a stopped connector.

    It then begins again from the start.

    \b
    Examples:
      copycat stop lines && copycat status lines --wait-for STOPPED
      copycat offsets reset lines
      copycat resume lines
    """
    get_connector(session.rest, connector)
    if not yes:
        confirm(f"Forget all offsets of {connector}?")
    _tell(session, connector, lambda: reset_offsets(session.rest, connector))


@click.group(commands=[get, alter, reset])
def offsets() -> None:
    """Show, alter or reset how far a connector came.

    \b
    To let a connector begin again from its start:
      copycat stop lines
      copycat status lines --wait-for STOPPED
      copycat offsets reset lines
      copycat resume lines
    """


def _tell(session: Session, connector: str, modify: Callable[[], str]) -> None:
    try:
        message = modify()
    except RefusedError as error:
        if get_status(session.rest, connector).connector.state == STOPPED:
            raise
        how = f"{session.command('stop', connector)}, and {session.command('resume', connector)} afterwards"
        raise RefusedError(f"{error.message}\n{connector} is not stopped: {how}") from error
    session.printer.did({"name": connector, "message": message}, f"{connector}: {message}")
    session.next(
        (session.command("offsets", "get", connector), "see them"),
        (session.command("resume", connector), "let it run from there"),
    )


def _read(file: Path) -> Offsets:
    try:
        return msgspec.json.decode(read_text(file), type=Offsets)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{shown(file)} is no list of offsets: {error}. copycat offsets alter --help shows one"
        ) from error


def _text(tree: object) -> str:
    return msgspec.json.encode(tree).decode()
