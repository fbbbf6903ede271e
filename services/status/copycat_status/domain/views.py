"""What is asked about statuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from copycat_connect.cluster import Instance

from copycat_status.domain.errors import UnknownStatusError
from copycat_status.domain.state import StatusFacts, StatusState
from copycat_status.domain.status import Status


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """A connector's status and those of its tasks, by index."""

    connector: str
    status: Status
    tasks: Mapping[int, Status]


def view_of(connector: str, facts: StatusFacts) -> ConnectorStatus | None:
    """Return the statuses known under a name, or None when the connector itself has none."""
    if facts.status is None:
        return None
    return ConnectorStatus(connector, facts.status, {task: facts.tasks[task] for task in sorted(facts.tasks)})


def get_connector_status(state: StatusState, connector: str) -> ConnectorStatus:
    """Return the statuses of a connector.

    Raises:
        UnknownStatusError: The connector itself has none; what may be left of its tasks is not shown then.
    """
    view = view_of(connector, state.facts(connector))
    if view is None:
        raise UnknownStatusError(connector)
    return view


def list_topics(state: StatusState, connector: str) -> tuple[str, ...]:
    """Return the active topics of a connector, by name; none for an unknown one."""
    return tuple(sorted(state.facts(connector).topics))


def list_instances(state: StatusState) -> Iterator[tuple[Instance, Status]]:
    """Yield every status, also of tasks whose connector has none: somebody has to forget them."""
    for connector in sorted(state.connectors):
        facts = state.connectors[connector]
        if facts.status is not None:
            yield Instance(connector), facts.status
        for task in sorted(facts.tasks):
            yield Instance(connector, task), facts.tasks[task]
