"""`copycat describe`: all about one connector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from copycat_cli.api.connectors import Connector, active_topics, get_connector
from copycat_cli.api.history import ACT, PastChange, get_history
from copycat_cli.api.statuses import State, Status, get_status
from copycat_cli.arguments import connector_argument
from copycat_cli.command import cluster_command
from copycat_cli.commands.health import health_block
from copycat_cli.errors import CliError, RefusedError
from copycat_cli.hidden import HIDDEN, is_secret, secret_keys
from copycat_cli.next_steps import next_steps
from copycat_cli.output.blocks import Block, Lines, Table
from copycat_cli.session import Session

_LATEST: Final = 5
#: Enough to find the newest word on each circuit.
_READ: Final = 200
_CIRCUIT: Final = "circuit"
_OPENED: Final = "circuit opened"


def _latest_acts(session: Session, connector: str) -> tuple[PastChange, ...]:
    """Return the newest acts; none for a cluster without a history, such as Apache Kafka Connect."""
    try:
        return get_history(session.rest, connector, kinds=[ACT], limit=_READ).changes
    except CliError:
        return ()  # the rest of what is described is worth showing all the same


def _act_blocks(acts: Sequence[PastChange]) -> Iterator[Block]:
    """Show the circuits that are open, then the latest acts."""
    opened = [each for each in _circuits(acts) if each.what == _OPENED]
    if opened:
        lines = [
            f"{_instance(each)}: open since {each.time}. {each.reason or ''}".rstrip() for each in opened
        ]
        yield Lines(lines, "Circuit: no more restarts without a hand")
    if acts:
        rows = [(each.time, _instance(each), each.what, each.reason or "") for each in acts[:_LATEST]]
        yield Table(("TIME", "", "WHAT", "WHY"), rows, "Done without a hand")


def _circuits(acts: Sequence[PastChange]) -> list[PastChange]:
    """Return the newest word on the circuit of each instance."""
    newest: dict[int | None, PastChange] = {}
    for each in acts:  # newest first
        if each.what.startswith(_CIRCUIT):
            newest.setdefault(each.task, each)
    return list(newest.values())


def _instance(change: PastChange) -> str:
    return "connector" if change.task is None else f"task {change.task}"


@cluster_command("describe")
@connector_argument
def describe(session: Session, connector: str) -> None:
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


def _topics(session: Session, connector: str) -> list[str] | None:
    try:
        return active_topics(session.rest, connector)
    except RefusedError:  # the workers may be configured not to track topics
        return None


def _blocks(
    found: Connector, status: Status, config: dict[str, str], topics: list[str] | None
) -> Iterator[Block]:
    used = "not tracked" if topics is None else ", ".join(topics) or "none yet"
    yield Lines((f"{found.type} connector, class {found.class_name}", f"topics used: {used}"), found.name)
    rows = [("connector", status.connector.state, status.connector.worker_id)]
    rows += [(f"task {task.id}", task.state, task.worker_id) for task in status.tasks]
    yield Table(("", "STATE", "WORKER"), rows, "State")
    yield from health_block(status)
    yield Table(("KEY", "VALUE"), list(config.items()), "Configuration")
    instances: list[tuple[str, State]] = [("the connector", status.connector)]
    instances += [(f"task {task.id}", task) for task in status.tasks]
    for name, instance in instances:
        if instance.trace:
            yield Lines(instance.trace.rstrip().splitlines(), f"Why {name} is {instance.state}")
