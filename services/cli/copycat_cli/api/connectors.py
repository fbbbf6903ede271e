"""`/connectors`: which there are, what they are configured as, the orders they take, and their history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config
from copycat_rest.answers import ActiveTopics, ChangedBy, ConnectorInfo, History

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


CONNECTORS = "connectors"
IN_NO_PATH = ("", ".", "..")
"""Names that clients take for steps in a path; only a record in a topic can have made such a connector."""
ACT = "act"
KINDS = ("config", "target_state", "status", "offsets", ACT, "commit")


def class_name(connector: ConnectorInfo) -> str:
    """Return the last part of a connector's class."""
    return (connector.config.get("connector.class") or "").rpartition(".")[2]


def connector_names(rest: Rest) -> list[str]:
    """Return the names of all connectors, sorted."""
    return sorted(rest.get(list[str], CONNECTORS))


def get_connector(rest: Rest, name: str) -> ConnectorInfo:
    """Return one connector."""
    return rest.get(ConnectorInfo, CONNECTORS, name)


def create_connector(rest: Rest, name: str, config: Mapping[str, str], initial_state: str | None) -> None:
    """Create a connector; refused where it exists."""
    state = {} if initial_state is None else {"initial_state": initial_state}
    rest.ask("POST", CONNECTORS, body={"name": name, "config": config, **state})


def put_config(rest: Rest, name: str, config: Config) -> None:
    """Replace a configuration; the connector is created where it does not exist."""
    rest.ask("PUT", CONNECTORS, name, "config", body=config)


def delete_connector(rest: Rest, name: str) -> None:
    """Delete a connector; its offsets stay."""
    if name in IN_NO_PATH:
        rest.ask("DELETE", CONNECTORS, query={"name": name})
    else:
        rest.ask("DELETE", CONNECTORS, name)


def set_state(rest: Rest, name: str, order: str) -> None:
    """Give an order: pause, resume or stop."""
    rest.ask("PUT", CONNECTORS, name, order)


def restart_task(rest: Rest, name: str, task: int) -> None:
    """Restart one task and wait for it."""
    rest.ask("POST", CONNECTORS, name, "tasks", str(task), "restart")


def active_topics(rest: Rest, name: str) -> list[str]:
    """Return the topics a connector has used; an unknown connector has used none."""
    answer = rest.get(dict[str, ActiveTopics], CONNECTORS, name, "topics")
    return sorted(answer[name].topics) if name in answer else []


def reset_topics(rest: Rest, name: str) -> None:
    """Forget which topics a connector has used."""
    rest.ask("PUT", CONNECTORS, name, "topics", "reset")


def author(by: ChangedBy) -> str:
    """Return who asked for a change, in a table."""
    if by.type == "user":
        return by.name or f"somebody at {by.address}" if by.address or by.name else "somebody"
    return f"{by.type}: {by.name}" if by.name else by.type


def get_history(
    rest: Rest,
    name: str,
    *,
    kinds: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    limit: int = 20,
) -> History:
    """Return a page of changes."""
    query: dict[str, str | list[str]] = {"limit": str(limit)}
    given = {"from": since, "to": until, "before": before}
    query |= {key: value for key, value in given.items() if value is not None}
    if kinds:
        query["kind"] = list(kinds)
    return rest.get(History, CONNECTORS, name, "history", query=query)


def get_config_at(rest: Rest, name: str, at: str) -> Config:
    """Return a configuration as it was at a time: ISO 8601, or how long ago, as in 2h."""
    return rest.get(dict[str, str | None], CONNECTORS, name, "config", query={"at": at})
