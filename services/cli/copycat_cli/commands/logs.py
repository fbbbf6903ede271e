"""`copycat logs level`: log levels of a running cluster."""

from __future__ import annotations

import click

from copycat_cli.api.loggers import get_logger, list_loggers, set_level
from copycat_cli.command import cluster_command
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session

LEVELS = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL")


@cluster_command("level")
@click.argument("logger", required=False)
@click.argument("level", required=False, type=click.Choice(LEVELS, case_sensitive=False), metavar="[LEVEL]")
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
    example = session.command("logs", "level", logger or "root", "DEBUG", "--scope", "cluster")
    session.next((example, "say more, everywhere"))


def _set(session: Session, logger: str, level: str, scope: str) -> None:
    changed = set_level(session.rest, logger, level, scope)
    where = "on every worker" if scope == "cluster" else f"on this worker, for {', '.join(changed)}"
    tree = {"logger": logger, "level": level, "scope": scope, "changed": changed}
    session.printer.did(tree, f"{logger} logs {level} {where}")
    session.next((session.command("logs", "level", logger), "the level in force"))


@click.group(commands=[set_or_show])
def logs() -> None:
    """Show or set the log levels of a running cluster.

    \b
    Examples:
      copycat logs level
      copycat logs level root DEBUG
    """
