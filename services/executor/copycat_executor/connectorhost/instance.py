"""One running connector: its author code in one daemon thread, its calls one after the other."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from copycat_connect.cluster import Config
from copycat_connect.plugin.connectors import SinkConnector, SourceConnector
from copycat_connect.plugin.spec import PluginSpec
from copycat_connect.validation import connector_plugin
from copycat_telemetry.context import keep_secret

from copycat_executor.connectorhost.creation_keys import check_creation_keys
from copycat_executor.connectorhost.plugin_answers import identity
from copycat_executor.connectorhost.resources import ConnectorResources
from copycat_executor.connectorhost.secrets import Resolved
from copycat_executor.connectorhost.task_configs import publishable
from copycat_executor.domain.plugin import Plugin
from copycat_executor.pipes.connector_messages import ConnectorFailed, ReconfigurationWanted
from copycat_executor.pipes.failures import failure

log = logging.getLogger(__name__)
Job = Callable[[], None]
SendEvent = Callable[[ReconfigurationWanted | ConnectorFailed], None]


class ConnectorInstance:
    """A connector from its start to its stop; after `abandon` it is silent."""

    def __init__(
        self, incarnation: int, config: Config, resources: ConnectorResources, send: SendEvent
    ) -> None:
        """Prepare; `send` sends an event to the executor."""
        self._incarnation = incarnation
        self._resources = resources
        self._config = Resolved(config, config)
        self._send = send
        self._spec: PluginSpec | None = None
        self._connector: SourceConnector | SinkConnector | None = None
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._abandoned = False
        threading.Thread(target=self._work, name=f"connector-{incarnation}", daemon=True).start()

    def scrub(self, text: str) -> str:
        """Take the connector's secrets out of a text."""
        return self._config.scrub(text)

    def submit(self, job: Job) -> None:
        """Run a job in the connector's thread, after those before it."""
        self._jobs.put(job)

    def start(self) -> Plugin:
        """Resolve the configuration, make the connector and start it; reading secrets may block, too."""
        self._config = Resolved.of(self._config.raw, self._resources.placeholders)
        spec = connector_plugin(self._config.values, self._resources.plugins)
        check_creation_keys(spec.kind, self._config.values, self._resources.worker)
        connector = spec.factory()
        connector.initialize(self)
        connector.start(self._config.given())
        self._spec, self._connector = spec, connector
        return identity(spec)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Ask for task configurations, complete and without secrets."""
        assert self._connector is not None  # started before
        assert self._spec is not None  # likewise
        return publishable(self._spec, self._config, self._connector.task_configs(max_tasks))

    def stop(self) -> None:
        """Stop the connector; its thread ends."""
        self._jobs.put(None)
        connector, self._connector = self._connector, None
        if connector is not None:
            connector.stop()

    def abandon(self) -> None:
        """Give it up: what it says no longer counts, and if it ever comes back it is stopped."""
        self._abandoned = True
        self._jobs.put(self._stop_late)
        self._jobs.put(None)

    def request_task_reconfiguration(self) -> None:
        """Have the executor ask for task configurations again (ConnectorContext)."""
        self._report(ReconfigurationWanted(self._incarnation))

    def raise_error(self, error: Exception) -> None:
        """Report to the executor that the connector failed outside of a call (ConnectorContext)."""
        self._report(ConnectorFailed(self._incarnation, failure(error, self.scrub)))

    def _report(self, event: ReconfigurationWanted | ConnectorFailed) -> None:
        if not self._abandoned:
            self._send(event)

    def _stop_late(self) -> None:
        try:
            self.stop()
        except Exception as error:
            log.warning("an abandoned connector failed to stop: %s", self.scrub(str(error)))

    def _work(self) -> None:
        keep_secret(self.scrub)
        while (job := self._jobs.get()) is not None:
            job()
