"""The operations of a cluster that KIP-26 names, over the REST interface, as plain calls."""

from __future__ import annotations

import ssl
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from copycat_cli.api import workers
from copycat_cli.api.connectors import (
    CONNECTORS,
    active_topics,
    connector_names,
    delete_connector,
    get_connector,
    set_state,
)
from copycat_cli.api.statuses import UNKNOWN, Status, TaskState, get_status, overview
from copycat_cli.api.workers import list_workers
from copycat_cli.rest import Rest
from msgspec import Struct

from copycat_launcher.own_user import own_user


@dataclass(frozen=True, slots=True)
class _Held:
    """A connector or a task that a worker holds."""

    connector: str
    """The connector."""
    task: int | None
    """The task's number; nothing for the connector itself."""
    state: str
    """What it does; UNKNOWN while it has said nothing."""


@dataclass(frozen=True, slots=True)
class _Worker:
    """A worker that has a lease, with what it holds."""

    worker_id: str
    """Its name, `host:port`."""
    leaving: bool
    """It drains and takes no new work."""
    held: tuple[_Held, ...]
    """What it runs, starts or drains."""

    @property
    def connectors(self) -> tuple[_Held, ...]:
        """The connectors it holds."""
        return tuple(each for each in self.held if each.task is None)

    @property
    def tasks(self) -> tuple[_Held, ...]:
        """The tasks it holds."""
        return tuple(each for each in self.held if each.task is not None)


def _with_states(listed: Iterable[workers.Worker], statuses: Iterable[Status]) -> tuple[_Worker, ...]:
    """Return the workers; each instance with the state in its connector's status."""
    states: dict[tuple[str, int | None], str] = {}
    for status in statuses:
        states[status.name, None] = status.connector.state
        states.update({(status.name, task.id): task.state for task in status.tasks})
    return tuple(
        _Worker(
            each.worker_id,
            each.leaving,
            tuple(
                _Held(held.connector, held.task, states.get((held.connector, held.task), UNKNOWN))
                for held in each.held
            ),
        )
        for each in listed
    )


class Task(Struct, frozen=True):
    """One task."""

    config: dict[str, str | None]
    """The part of the work its connector gave it."""
    status: TaskState | None = None
    """What it does; nothing before it first said."""


class Operations(ABC):
    """Blocking calls; each raises a CliError: NotFoundError, RefusedError, or UnreachableError."""

    @property
    @abstractmethod
    def rest_url(self) -> str:
        """Root of the REST interface, for whatever has no call here."""

    @property
    @abstractmethod
    def _tls(self) -> ssl.SSLContext | None:
        """What to call it with where it is https."""

    def connectors(self) -> tuple[str, ...]:
        """Return the names of the cluster's connectors."""
        with self._rest() as rest:
            return tuple(connector_names(rest))

    def config(self, name: str) -> dict[str, str | None]:
        """Return a connector's configuration."""
        with self._rest() as rest:
            return get_connector(rest, name).config

    def status(self, name: str) -> Status:
        """Return what a connector and its tasks do."""
        with self._rest() as rest:
            return get_status(rest, name)

    def task(self, name: str, task: int) -> Task:
        """Return the configuration and the status of one task."""
        with self._rest() as rest:
            return rest.get(Task, CONNECTORS, name, "tasks", str(task))

    def topics(self, name: str) -> frozenset[str]:
        """Return the topics a connector has used so far (KIP-558)."""
        with self._rest() as rest:
            return frozenset(active_topics(rest, name))

    def workers(self) -> tuple[_Worker, ...]:
        """Return the live workers with their state, and the connectors and tasks of each with theirs."""
        with self._rest() as rest:
            return _with_states(list_workers(rest), [each.status for each in overview(rest)])

    def pause(self, name: str) -> None:
        """Ask a connector and its tasks to pause; they do so a moment later."""
        with self._rest() as rest:
            set_state(rest, name, "pause")

    def resume(self, name: str) -> None:
        """Ask a paused or stopped connector to go on; it does so a moment later."""
        with self._rest() as rest:
            set_state(rest, name, "resume")

    def remove_connector(self, name: str) -> None:
        """Delete a connector; its tasks flush and stop a moment later, its offsets stay."""
        with self._rest() as rest:
            delete_connector(rest, name)

    @contextmanager
    def _rest(self) -> Iterator[Rest]:
        rest = Rest(self.rest_url, tls=self._tls, user=own_user())
        try:
            yield rest
        finally:
            rest.close()
