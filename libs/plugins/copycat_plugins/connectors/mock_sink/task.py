"""MockSink's task: drops records, and fails where that is ordered."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data import SinkBatch
from copycat_connect.plugin import SinkTask

from copycat_plugins.connectors.ordered_failure import TASK_FAILURE, OrderedFailure

_LONGEST_WAIT_MILLIS = 250


class MockSinkTask(SinkTask):
    """Asks to be called often while a failure is ordered: there may be no records that would call it."""

    def start(self, config: Mapping[str, str]) -> None:
        """Take the order, and begin to count."""
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
