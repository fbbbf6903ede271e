"""The operations of a cluster over REST, as plain calls: those that KIP-26 names, and submitting."""

from __future__ import annotations

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from copycat_cli.api.connectors import (
    CONNECTORS,
    active_topics,
    connector_names,
    delete_connector,
    get_connector,
    set_state,
)
from copycat_cli.api.statuses import FAILED, UNKNOWN, get_status, overview, reason
from copycat_cli.api.workers import list_workers
from copycat_cli.configuration import apply
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.credentials import own_user
from copycat_cli.errors import CliError, ExistsError
from copycat_cli.rest import Rest
from copycat_connect.cluster import Config
from copycat_rest.answers import ConnectorStateInfo, TaskDetail, WorkerInfo
from msgspec import UNSET

from copycat_launcher.errors import ConnectorStartError


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


def _with_states(listed: Iterable[WorkerInfo], statuses: Iterable[ConnectorStateInfo]) -> tuple[_Worker, ...]:
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
                _Held(held.connector, task, states.get((held.connector, task), UNKNOWN))
                for held in each.held
                for task in (None if held.task is UNSET else held.task,)
            ),
        )
        for each in listed
    )


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

    def config(self, name: str) -> Config:
        """Return a connector's configuration."""
        with self._rest() as rest:
            return get_connector(rest, name).config

    def status(self, name: str) -> ConnectorStateInfo:
        """Return what a connector and its tasks do."""
        with self._rest() as rest:
            return get_status(rest, name)

    def task(self, name: str, task: int) -> TaskDetail:
        """Return the configuration and the status of one task."""
        with self._rest() as rest:
            return rest.get(TaskDetail, CONNECTORS, name, "tasks", str(task))

    def topics(self, name: str) -> frozenset[str]:
        """Return the topics a connector has used so far (KIP-558)."""
        with self._rest() as rest:
            return frozenset(active_topics(rest, name))

    def workers(self) -> tuple[_Worker, ...]:
        """Return the live workers with their state, and the connectors and tasks of each with theirs."""
        with self._rest() as rest:
            return _with_states(list_workers(rest), [status for status, _ in overview(rest)])

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


_START_SECONDS = 60.0
POLL_SECONDS = 0.1
_UNSETTLED = (UNKNOWN, "UNASSIGNED", "RESTARTING")


async def submit(url: str, file: ConnectorFile, tls: ssl.SSLContext | None = None) -> None:
    """Create the connector, or change the one of this name, and wait until it has started.

    Raises:
        ConnectorStartError: It was refused, or failed to start.
    """
    rest = Rest(url, tls=tls, user=own_user())
    what = f"{file.shown}: connector {file.name}"
    try:
        await asyncio.to_thread(_apply, rest, file)
        await _until_started(rest, file.name, what)
    except CliError as error:
        raise ConnectorStartError(f"{what} was refused: {error.message}") from error
    finally:
        rest.close()


def _apply(rest: Rest, file: ConnectorFile) -> None:
    try:
        apply(rest, file)
    except ExistsError:  # another copy of the application was quicker
        apply(rest, file)


async def _until_started(rest: Rest, name: str, what: str) -> None:
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        connector = (await asyncio.to_thread(get_status, rest, name)).connector
        if connector.state == FAILED:
            raise ConnectorStartError(f"{what} failed to start: {reason(connector) or '(no trace)'}")
        if connector.state not in _UNSETTLED:
            return
        await asyncio.sleep(POLL_SECONDS)
    raise ConnectorStartError(f"{what} did not start within {_START_SECONDS:.0f} s")
