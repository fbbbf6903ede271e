"""The live workers, with the states of all they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from copycat_cli.api import workers
from copycat_cli.api.statuses import UNKNOWN, Status


@dataclass(frozen=True, slots=True)
class Held:
    """A connector or a task that a worker holds."""

    connector: str
    """The connector."""
    task: int | None
    """The task's number; nothing for the connector itself."""
    state: str
    """What it does; UNKNOWN while it has said nothing."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that has a lease, with what it holds."""

    worker_id: str
    """Its name, `host:port`."""
    leaving: bool
    """It drains and takes no new work."""
    held: tuple[Held, ...]
    """What it runs, starts or drains."""

    @property
    def connectors(self) -> tuple[Held, ...]:
        """The connectors it holds."""
        return tuple(each for each in self.held if each.task is None)

    @property
    def tasks(self) -> tuple[Held, ...]:
        """The tasks it holds."""
        return tuple(each for each in self.held if each.task is not None)


def with_states(listed: Iterable[workers.Worker], statuses: Iterable[Status]) -> tuple[Worker, ...]:
    """Return the workers; each instance with the state in its connector's status."""
    states: dict[tuple[str, int | None], str] = {}
    for status in statuses:
        states[status.name, None] = status.connector.state
        states.update({(status.name, task.id): task.state for task in status.tasks})
    return tuple(
        Worker(
            each.worker_id,
            each.leaving,
            tuple(
                Held(held.connector, held.task, states.get((held.connector, held.task), UNKNOWN))
                for held in each.held
            ),
        )
        for each in listed
    )
