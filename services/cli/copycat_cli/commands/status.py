"""`copycat status`: once, watched, or waited for."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from queue import SimpleQueue

import click

from copycat_cli.api.statuses import Status, get_statuses
from copycat_cli.arguments import connectors_argument
from copycat_cli.command import cluster_command
from copycat_cli.commands.health import instances, why
from copycat_cli.errors import UsageError
from copycat_cli.exits import ExitCode
from copycat_cli.next_steps import next_steps
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session
from copycat_cli.waiting import wait_for, watch

STATES = ("RUNNING", "PAUSED", "STOPPED", "FAILED")
COLUMNS = ("CONNECTOR", "INSTANCE", "STATE", "WORKER", "WHY")


@cluster_command("status")
@connectors_argument(required=False)
@click.option("-w", "--watch", "watched", is_flag=True, help="Go on showing it until Ctrl-C.")
@click.option("--wait-for", "wanted", type=click.Choice(STATES, case_sensitive=False), metavar="STATE",
              help="Wait until all of it is RUNNING, PAUSED or STOPPED, or some FAILED.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0), default=60, show_default=True, metavar="SECONDS",
              help="How long --wait-for waits.")  # fmt: skip
@click.option("--interval", type=click.FloatRange(0.1), default=1, show_default=True, metavar="SECONDS",
              help="How often --watch looks.")  # fmt: skip
@click.pass_context
def status(
    ctx: click.Context,
    session: Session,
    *,
    connectors: Sequence[str],
    watched: bool,
    wanted: str | None,
    timeout: float,
    interval: float,
) -> None:
    """Show the state of connectors and their tasks.

    All of them when none is named.

    Ends with 0 when all is well, 1 when something is FAILED, 3 for an unknown connector. With --wait-for: 0
    once reached, 1 when something stays FAILED for some seconds instead, 6 after --timeout. --watch in a
    pipe prints each change.

    \b
    Examples:
      copycat status
      copycat status lines --watch
      copycat status lines --wait-for RUNNING --timeout 30
    """
    if watched and wanted:
        raise UsageError("--watch goes on until Ctrl-C, --wait-for ends by itself; give one of them")
    if wanted and not connectors:
        raise UsageError("--wait-for needs the names of connectors")
    if watched:
        _show(session, watch(session.rest, connectors, interval, _ctrl_c()), moving=True)
    elif wanted:
        _show(session, wait_for(session.rest, connectors, wanted, timeout), moving=session.printer.terminal)
    else:
        _once(ctx, session, connectors)


def _ctrl_c() -> SimpleQueue[None]:
    """Return what Ctrl-C puts something into.

    An exception could come where Python ignores it, in a destructor; and an event that a handler sets waits
    for ever for the lock that the interrupted `wait` may hold. This queue's `put` may interrupt its `get`.
    """
    ended = SimpleQueue[None]()
    signal.signal(signal.SIGINT, lambda *_: ended.put(None))
    return ended


def _once(ctx: click.Context, session: Session, connectors: Sequence[str]) -> None:
    found = get_statuses(session.rest, connectors)
    session.printer.show(found, table(found))
    worst = next((each for each in found if each.failed), found[0] if found else None)
    if worst is None:
        session.next(("copycat create --help", "how to make a connector"))
        return
    if not worst.failed:
        session.next(*next_steps(session, worst))
        return
    session.next((session.command("describe", worst.name), "all about it"), *next_steps(session, worst))
    ctx.exit(ExitCode.NO)


def _show(session: Session, states: Iterable[list[Status]], *, moving: bool) -> None:
    """Show each state in turn when it moves, else the last one only."""
    if moving:
        with session.printer.screen() as screen:
            for found in states:
                screen.show(found, table(found))
    else:
        *_, found = states
        session.printer.show(found, table(found))


def table(statuses: Sequence[Status]) -> Table:
    """Return one row for each connector and each task."""
    rows = [
        (each.name, what, at.state, at.worker_id, why(each, at))
        for each in statuses
        for what, at in instances(each)
    ]
    return Table(COLUMNS, rows, empty="There are no connectors yet.")
