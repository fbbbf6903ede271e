"""`copycat logs`: what a system writes, and its log levels."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click
import platformdirs
from copycat_connect.log_levels import LEVELS

from copycat_cli.api.loggers import get_logger, list_loggers, set_level
from copycat_cli.command import cluster_command
from copycat_cli.errors import CliError
from copycat_cli.log_folder import LogFolder
from copycat_cli.log_lines import Choice, LogLine
from copycat_cli.output.blocks import Table
from copycat_cli.output.printer import JSON, TABLE
from copycat_cli.session import Session

LEVEL = click.Choice(tuple(LEVELS), case_sensitive=False)
LOOK_SECONDS = 0.25


@cluster_command("level")
@click.argument("logger", required=False)
@click.argument("level", required=False, type=LEVEL, metavar="[LEVEL]")
@click.option("--scope", type=click.Choice(("worker", "cluster")), default="worker", show_default=True,
              help="Set it on the worker that answers, or on all.")  # fmt: skip
def set_or_show(session: Session, logger: str | None, level: str | None, scope: str) -> None:
    """Show log levels, or set one while the cluster runs.

    A restart of the cluster forgets what was set. LOGGER is a name such as copycat_gateway, or root; those
    whose names begin with it follow. LEVEL is OFF, FATAL, ERROR, WARN, INFO, DEBUG, TRACE or ALL.

    \b
    Examples:
      copycat logs level                                   # all that were set
      copycat logs level root
      copycat logs level copycat_executor DEBUG --scope cluster
    """
    if level is not None and logger is not None:
        _set(session, logger, level, scope)
        return
    found = list_loggers(session.rest) if logger is None else {logger: get_logger(session.rest, logger)}
    rows = [(name, each.level) for name, each in found.items()]
    session.printer.show(found, Table(("LOGGER", "LEVEL"), rows))
    example = session.command("logs level", logger or "root", "DEBUG", options=("--scope", "cluster"))
    session.next((example, "say more, everywhere"))


def _set(session: Session, logger: str, level: str, scope: str) -> None:
    changed = set_level(session.rest, logger, level, scope)
    where = "on every worker" if scope == "cluster" else f"on this worker, for {', '.join(changed)}"
    tree = {"logger": logger, "level": level, "scope": scope, "changed": changed}
    session.printer.did(tree, f"{logger} logs {level} {where}")
    session.next((session.command("logs level", logger), "the level in force"))


@click.group(commands=[set_or_show], invoke_without_command=True)
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path),
              default=lambda: platformdirs.user_data_dir("copycat", appauthor=False),
              help="The data directory of the `copycat up` whose logs are wanted.  "
              "[default: your user data folder]")  # fmt: skip
@click.option("--service", metavar="NAME",
              help="Only those of one program: services, executor, executor-2, kafka ...")  # fmt: skip
@click.option("--connector", metavar="NAME", help="Only lines about this connector and its tasks.")
@click.option("--level", type=LEVEL, default="ALL", help="Only lines of this level and above.")
@click.option("-n", "--lines", type=click.IntRange(0), default=50, show_default=True,
              help="How many of the last lines.")  # fmt: skip
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
@click.option("-o", "--output", type=click.Choice([TABLE, JSON]), default=TABLE, show_default=True,
              help="Text for people, or JSON for programs, an object a line.")  # fmt: skip
@click.pass_context
def logs(  # noqa: PLR0917  # one for each option
    ctx: click.Context,
    data_dir: Path,
    service: str | None,
    connector: str | None,
    level: str,
    lines: int,
    follow: bool,
    output: str,
) -> None:
    """Show what a system of `copycat up` logs, or its levels.

    The logs of all services are shown as one, in the order of time. A service that was started otherwise, by
    copycat-worker or in a container, writes to its standard error: see what started it.

    \b
    Examples:
      copycat logs
      copycat logs --follow --level WARN
      copycat logs --connector lines -n 200
      copycat logs level root DEBUG --scope cluster        # let them say more
    """
    if ctx.invoked_subcommand is not None:
        return
    folder, choice = LogFolder(Path(data_dir) / "logs", service), Choice(level.upper(), connector)
    try:
        _write(folder.last(choice, lines), output)
        while follow:
            time.sleep(LOOK_SECONDS)
            _write([line for line in folder.added() if choice.takes(line)], output)
    except CliError as error:
        click.echo(f"{ctx.command_path}: {error.message}", err=True)
        ctx.exit(error.exit_code)
    except KeyboardInterrupt:
        return  # the way to end --follow


def _write(lines: list[LogLine], form: str) -> None:
    for line in lines:
        click.echo(json.dumps(line.tree(), ensure_ascii=False) if form == JSON else line.text())
    sys.stdout.flush()
