"""What is asked about connectors."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_connect.cluster import Config, TargetState

from copycat_config.domain.errors import UnknownConnectorError
from copycat_config.domain.state import ConfigFacts, ConfigState


@dataclass(frozen=True, slots=True)
class ConnectorView:
    """A connector as the log holds it."""

    name: str
    config: Config
    target: TargetState
    tasks: tuple[Config, ...]
    """The committed set; empty while it is inconsistent."""
    inconsistent: bool
    """The task records make no whole set: the owner publishes a new one."""
    tasks_outdated: bool
    """The task set was made from another configuration than the one in force."""
    task_generation: int
    """Number of good task sets before the last."""
    fencing_recorded: bool
    """A number of tasks is on record for fencing: tasks of it have written in transactions."""


def view_of(name: str, facts: ConfigFacts) -> ConnectorView | None:
    """Return what is known under a name as a connector, or None when it has no configuration."""
    if facts.config is None:
        return None
    return ConnectorView(
        name=name,
        config=facts.config,
        target=facts.target_in_force,
        tasks=facts.visible_tasks,
        inconsistent=facts.inconsistent,
        tasks_outdated=_outdated(facts),
        task_generation=facts.task_generation or 0,
        fencing_recorded=facts.fenced is not None,
    )


def find_connector(state: ConfigState, name: str) -> ConnectorView | None:
    """Return a connector, or None when it has no configuration."""
    return view_of(name, state.facts(name))


def get_connector(state: ConfigState, name: str) -> ConnectorView:
    """Return a connector.

    Raises:
        UnknownConnectorError: It has no configuration.
    """
    view = find_connector(state, name)
    if view is None:
        raise UnknownConnectorError(name)
    return view


def list_connectors(state: ConfigState) -> tuple[ConnectorView, ...]:
    """Return every connector, by name."""
    views = (find_connector(state, name) for name in sorted(state.connectors))
    return tuple(view for view in views if view is not None)


def _outdated(facts: ConfigFacts) -> bool:
    """A new connector has no set yet; one whose set compaction orphaned had one that cannot be read."""
    return facts.orphaned or (facts.task_count is not None and facts.applied != facts.config)
