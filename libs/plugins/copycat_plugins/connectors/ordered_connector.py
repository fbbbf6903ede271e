"""The part of Kafka's mock connectors that is the same in the source and the sink."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Timer

from copycat_connect.plugin.connectors import Connector

from copycat_plugins.connectors.ordered_failure import CONNECTOR_FAILURE, OrderedFailure


class OrderedConnector(Connector):
    """Has one task, with the connector's configuration, and fails on demand."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._timer: Timer | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the order, and begin to count."""
        failure = OrderedFailure(config, CONNECTOR_FAILURE)
        self._config = dict(config)
        if failure.is_ordered:
            self._timer = Timer(failure.seconds_left(), self.context.raise_error, [failure.error()])
            self._timer.daemon = True
            self._timer.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one configuration, whatever the limit."""
        del max_tasks
        return [self._config]

    def stop(self) -> None:
        """Cancel the order, if it was not carried out."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
