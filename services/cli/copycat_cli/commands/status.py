"""How connectors are: `copycat list`, `copycat status` (once, watched, or waited for), `copycat describe`."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import Final

import click
from copycat_rest.answers import ConnectorInfo, ConnectorState, ConnectorStateInfo, ShownChange, TaskState
from msgspec import UNSET, UnsetType

from copycat_cli.advice import next_steps
from copycat_cli.api.connectors import ACT, active_topics, class_name, get_connector, get_history
from copycat_cli.api.statuses import failed, get_status, get_statuses, health_line, overview, reason
from copycat_cli.command import cluster_command, connector_argument, connectors_argument
from copycat_cli.configuration import HIDDEN, is_secret, secret_keys
from copycat_cli.errors import CliError, ExitCode, RefusedError, UsageError
from copycat_cli.output.blocks import Block, TableBlock, TextBlock
from copycat_cli.session import CommandSession
from copycat_cli.waiting import wait_for, watch


def _instances(status: ConnectorStateInfo) -> Iterator[tuple[str, ConnectorState | TaskState]]:
    """Yield the connector and its tasks, each with its name in a table."""
    yield "connector", status.connector
    for task in status.tasks:
        yield f"task {task.id}", task


def _why(status: ConnectorStateInfo, instance: ConnectorState | TaskState) -> str:
    """Return why an instance is not plainly RUNNING; of the connector, how all of it is."""
    if instance is status.connector and not reason(instance) and status.health:
        return health_line(status.health)
    return reason(instance)


def _health_block(status: ConnectorStateInfo) -> Iterator[Block]:
    """Yield a table of the health with its reasons; nothing where the cluster does not report it."""
    if not status.health:
        return
    rows = [("all of it", status.health.state, "", status.health.reason or "")]
    rows += [(name, at.state, at.since or "", reason(at)) for name, at in _instances(status)]
    yield TableBlock(("", "HEALTH OR STATE", "SINCE", "WHY"), rows, "Health")


_LIST_COLUMNS = ("NAME", "TYPE", "STATE", "TASKS", "CLASS")


@cluster_command("list")
def list_connectors(session: CommandSession) -> None:
    """List the connectors: type, state, tasks, class.

    \b
    Examples:
      copycat list
      copycat list -o json | jq -r '.[].name'
    """
    found = overview(session.rest)
    rows = [_list_row(status, info) for status, info in found]
    session.printer.show(
        [
            {"name": info.name, "class": info.config.get("connector.class"), **_list_states(status)}
            for status, info in found
        ],
        TableBlock(_LIST_COLUMNS, rows, empty="There are no connectors yet."),
    )
    if not found:
        session.next(
            (session.command("plugins"), "what connectors could do here"),
            ("copycat create --help", "how to make one"),
        )
    elif broken := [info.name for status, info in found if failed(status)]:
        session.next((session.command("describe", broken[0]), "why it failed"))
    else:
        session.next((session.command("status", options=("--watch",)), "see them work"))


def _list_row(status: ConnectorStateInfo, info: ConnectorInfo) -> tuple[str, ...]:
    counted = Counter(task.state for task in status.tasks)
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(counted.items())) or "none"
    return (info.name, status.type, status.connector.state, tasks, class_name(info))


def _list_states(status: ConnectorStateInfo) -> dict[str, object]:
    return {
        "type": status.type,
        "state": status.connector.state,
        "tasks": [{"id": task.id, "state": task.state} for task in status.tasks],
    }


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
    session: CommandSession,
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
    if watched:
        _show_each(session, watch(session.rest, connectors, interval, _ctrl_c()), moving=True)
    elif wanted:
        _show_each(
            session, wait_for(session.rest, connectors, wanted, timeout), moving=session.printer.terminal
        )
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


def _once(ctx: click.Context, session: CommandSession, connectors: Sequence[str]) -> None:
    found = get_statuses(session.rest, connectors)
    session.printer.show(found, _status_table(found))
    worst = next((each for each in found if failed(each)), found[0] if found else None)
    if worst is None:
        session.next(("copycat create --help", "how to make a connector"))
        return
    if not failed(worst):
        session.next(*next_steps(session, worst))
        return
    session.next((session.command("describe", worst.name), "all about it"), *next_steps(session, worst))
    ctx.exit(ExitCode.NO)


def _show_each(session: CommandSession, states: Iterable[list[ConnectorStateInfo]], *, moving: bool) -> None:
    """Show each state in turn when it moves, else the last one only."""
    if moving:
        with session.printer.screen() as screen:
            for found in states:
                screen.show(found, _status_table(found))
    else:
        *_, found = states
        session.printer.show(found, _status_table(found))


def _status_table(statuses: Sequence[ConnectorStateInfo]) -> TableBlock:
    """Return one row for each connector and each task."""
    rows = [
        (each.name, what, at.state, at.worker_id, _why(each, at))
        for each in statuses
        for what, at in _instances(each)
    ]
    return TableBlock(COLUMNS, rows, empty="There are no connectors yet.")


_LATEST: Final = 5
#: Enough to find the newest word on each circuit.
_READ: Final = 200
_CIRCUIT: Final = "circuit"
_OPENED: Final = "circuit opened"


def _latest_acts(session: CommandSession, connector: str) -> Sequence[ShownChange]:
    """Return the newest acts; none for a cluster without a history, such as Apache Kafka Connect."""
    try:
        return get_history(session.rest, connector, kinds=[ACT], limit=_READ).changes
    except CliError:
        return ()  # the rest of what is described is worth showing all the same


def _act_blocks(acts: Sequence[ShownChange]) -> Iterator[Block]:
    """Show the circuits that are open, then the latest acts."""
    opened = [each for each in _circuits(acts) if each.what == _OPENED]
    if opened:
        lines = [
            f"{_instance(each)}: open since {each.time}. {each.reason or ''}".rstrip() for each in opened
        ]
        yield TextBlock(lines, "Circuit: no more restarts without a hand")
    if acts:
        rows = [(each.time, _instance(each), each.what, each.reason or "") for each in acts[:_LATEST]]
        yield TableBlock(("TIME", "", "WHAT", "WHY"), rows, "Done without a hand")


def _circuits(acts: Sequence[ShownChange]) -> list[ShownChange]:
    """Return the newest word on the circuit of each instance."""
    newest: dict[int | UnsetType, ShownChange] = {}
    for each in acts:  # newest first
        if each.what.startswith(_CIRCUIT):
            newest.setdefault(each.task, each)
    return list(newest.values())


def _instance(change: ShownChange) -> str:
    return "connector" if change.task is UNSET else f"task {change.task}"


@cluster_command("describe")
@connector_argument
def describe(session: CommandSession, connector: str) -> None:
    """Show all about one connector, and why it failed.

    State, tasks, configuration, topics, traces, and what Copycat did by itself.

    Passwords are hidden in the table; -o json shows what the cluster answers, and can be applied again.

    \b
    Examples:
      copycat describe lines
      copycat describe lines -o json > lines.json    # a copy: copycat apply lines.json
    """
    found = get_connector(session.rest, connector)
    status = get_status(session.rest, connector)
    topics = _topics(session, connector)
    acts = _latest_acts(session, connector)
    secret = secret_keys(session.rest, found.config)
    shown = {
        key: HIDDEN if value is not None and is_secret(key, value, secret) else value or ""
        for key, value in sorted(found.config.items())
    }
    tree = {
        "name": found.name,
        "type": found.type,
        "config": found.config,
        "status": status,
        "topics": topics,
        "acts": acts[:_LATEST],
    }
    session.printer.show(tree, *_blocks(found, status, shown, topics), *_act_blocks(acts))
    session.next(*next_steps(session, status))


def _topics(session: CommandSession, connector: str) -> list[str] | None:
    try:
        return active_topics(session.rest, connector)
    except RefusedError:  # the workers may be configured not to track topics
        return None


def _blocks(
    found: ConnectorInfo, status: ConnectorStateInfo, config: dict[str, str], topics: list[str] | None
) -> Iterator[Block]:
    used = "not tracked" if topics is None else ", ".join(topics) or "none yet"
    yield TextBlock(
        (f"{found.type} connector, class {class_name(found)}", f"topics used: {used}"), found.name
    )
    rows = [("connector", status.connector.state, status.connector.worker_id)]
    rows += [(f"task {task.id}", task.state, task.worker_id) for task in status.tasks]
    yield TableBlock(("", "STATE", "WORKER"), rows, "State")
    yield from _health_block(status)
    yield TableBlock(("KEY", "VALUE"), list(config.items()), "Configuration")
    instances: list[tuple[str, ConnectorState | TaskState]] = [("the connector", status.connector)]
    instances += [(f"task {task.id}", task) for task in status.tasks]
    for name, instance in instances:
        if instance.trace:
            yield TextBlock(instance.trace.rstrip().splitlines(), f"Why {name} is {instance.state}")
