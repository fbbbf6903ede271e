"""What the process of the connectors says, passed to who deals with it."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from copycat_executor.background.jobs import Jobs
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.query_engine import Queries
from copycat_executor.connectors.connector_actions import ConnectorActions
from copycat_executor.connectors.reloading import Reloading
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.pipes.connector_messages import (
    ConnectorEvent,
    ConnectorFailed,
    ConnectorWaits,
    QueryAsked,
    ReconfigurationWanted,
    SecretsExpired,
)


class ProcessEvents:
    """Hears the processes of connectors: a validation's queries are answered, the rest is of connectors."""

    def __init__(
        self,
        connectors: ConnectorActions,
        reloading: Reloading,
        queries: Queries,
        jobs: Jobs,
    ) -> None:
        self._reloading = reloading
        self._connectors = connectors
        self._queries = queries
        self._jobs = jobs

    def heard(self, event: ConnectorEvent, process: ConnectorProcess) -> None:
        """A validation asks for a query, or a connector says something."""
        match event:
            case QueryAsked():
                self._jobs.spawn(self._queries.check(event, process), "query of a validation")
            case ReconfigurationWanted(incarnation=incarnation):
                self._connectors.reconfigure(incarnation)
            case ConnectorFailed(incarnation=incarnation, failure=failure):
                self._connectors.failed(incarnation, failure.trace, failure.kind)
            case ConnectorWaits(incarnation=incarnation, reason=reason):
                self._connectors.waits(incarnation, reason)
            case SecretsExpired(incarnation=incarnation):
                name = self._connectors.name_of(incarnation)
                if name is not None:
                    self._reloading.expired(name)
            case _:
                assert_never(event)

    def process_ended(self, connectors: Collection[str], blamed: PluginProcessGoneError | None) -> None:
        """These connectors lost their objects; `blamed` where one did so by itself."""
        self._connectors.process_ended(connectors, blamed)
