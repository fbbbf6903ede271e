"""`/connectors`: which there are, what they are configured as, and the orders they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config
from msgspec import Struct

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

CONNECTORS = "connectors"
IN_NO_PATH = ("", ".", "..")
"""Names that clients take for steps in a path; only a record in a topic can have made such a connector."""


class TaskId(Struct, frozen=True):
    """Names one task."""

    connector: str
    task: int


class Connector(Struct, frozen=True):
    """A connector as it was configured."""

    name: str
    config: dict[str, str | None]
    tasks: tuple[TaskId, ...] = ()
    type: str = "unknown"
    """source, sink, or unknown where its class cannot be loaded."""

    @property
    def class_name(self) -> str:
        """The last part of its class."""
        return (self.config.get("connector.class") or "").rpartition(".")[2]


def connector_names(rest: Rest) -> list[str]:
    """Return the names of all connectors, sorted."""
    return sorted(rest.get(list[str], CONNECTORS))


def get_connector(rest: Rest, name: str) -> Connector:
    """Return one connector."""
    return rest.get(Connector, CONNECTORS, name)


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
    answer = rest.get(dict[str, dict[str, list[str]]], CONNECTORS, name, "topics")
    return sorted(answer.get(name, {}).get("topics", []))


def reset_topics(rest: Rest, name: str) -> None:
    """Forget which topics a connector has used."""
    rest.ask("PUT", CONNECTORS, name, "topics", "reset")
