"""MockSource: reads nothing, and fails on order."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, SourceConnector, SourceTask

from copycat_plugins.connectors import ordered_failure
from copycat_plugins.connectors.ordered_failure import (
    TASK_FAILURE,
    OrderedConnector,
    OrderedFailure,
    OrderedFailureSettings,
)

_CLASS_NAME = "org.apache.kafka.connect.tools.MockSourceConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.tools.MockSourceTask"

_SUMMARY = "Reads nothing, and fails on order: the connector or its task, some time after the start."
_GUARANTEES = "It delivers nothing, and has neither source partitions nor offsets. Made for system tests."
_EXAMPLES = ordered_failure.EXAMPLES


class MockSourceConnector(OrderedConnector, SourceConnector):
    """Has one task; fails some time after its start where `mock_mode` orders it."""


_IDLE_SECONDS = 0.25


class MockSourceTask(SourceTask):
    """Waits without ever returning a record; fails where `mock_mode` orders it."""

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the order, and begin to count."""
        self._failure = OrderedFailure(config, TASK_FAILURE)

    def poll(self) -> None:
        """Return nothing after a short wait.

        Raises:
            ConnectError: A failure was ordered, and its time has come.
        """
        self._failure.raise_if_due()
        left = self._failure.seconds_left() if self._failure.is_ordered else _IDLE_SECONDS
        self.context.wait(min(left, _IDLE_SECONDS))

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=OrderedFailureSettings.config_def(),
    factory=MockSourceConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=MockSourceTask,
    guarantees=_GUARANTEES,
    tested_with="nothing",
    examples=_EXAMPLES,
)
