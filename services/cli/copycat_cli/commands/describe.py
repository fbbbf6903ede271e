"""`copycat describe`: all about one connector."""

from __future__ import annotations

from collections.abc import Iterator

from copycat_cli.api.connectors import Connector, active_topics, get_connector
from copycat_cli.api.statuses import State, Status, get_status
from copycat_cli.arguments import connector_argument
from copycat_cli.command import cluster_command
from copycat_cli.commands.describe_acts import LATEST, act_blocks, latest_acts
from copycat_cli.commands.health import health_block
from copycat_cli.errors import RefusedError
from copycat_cli.hidden import HIDDEN, is_secret, secret_keys
from copycat_cli.next_steps import next_steps
from copycat_cli.output.blocks import Block, Lines, Table
from copycat_cli.session import Session


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
    acts = latest_acts(session, connector)
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
        "acts": acts[:LATEST],
    }
    session.printer.show(tree, *_blocks(found, status, shown, topics), *act_blocks(acts))
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
