"""MockSink: writes nothing, and fails on order."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data import SinkBatch
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, SinkConnector, SinkTask

from copycat_plugins.connectors import ordered_failure
from copycat_plugins.connectors.ordered_failure import (
    TASK_FAILURE,
    OrderedConnector,
    OrderedFailure,
    OrderedFailureSettings,
)

_CLASS_NAME = "org.apache.kafka.connect.tools.MockSinkConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.tools.MockSinkTask"

_SUMMARY = "Writes nothing, and fails on order: the connector or its task, some time after the start."
_GUARANTEES = "It takes records and drops them; what it took is committed. Made for system tests."
_EXAMPLES = {title: {"topics": "messages", **example} for title, example in ordered_failure.EXAMPLES.items()}


class _MockSinkConnector(OrderedConnector, SinkConnector):
    """Has one task; fails some time after its start where `mock_mode` orders it."""


_LONGEST_WAIT_MILLIS = 250


class MockSinkTask(SinkTask):
    """Asks to be called often while a failure is ordered: there may be no records that would call it."""

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the order, and begin to count."""
        self._failure = OrderedFailure(config, TASK_FAILURE)
        self._ask_for_a_call()

    def put(self, records: SinkBatch) -> None:
        """Drop the records.

        Raises:
            ConnectError: A failure was ordered, and its time has come.
        """
        del records
        self._failure.raise_if_due()
        self._ask_for_a_call()

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _ask_for_a_call(self) -> None:
        if self._failure.is_ordered:
            self.context.timeout(min(self._failure.delay_millis, _LONGEST_WAIT_MILLIS))


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=OrderedFailureSettings.config_def(),
    factory=_MockSinkConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=MockSinkTask,
    guarantees=_GUARANTEES,
    tested_with="nothing",
    examples=_EXAMPLES,
)
