"""MockSource's task: waits, and fails where that is ordered."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.ordered_failure import TASK_FAILURE, OrderedFailure

_IDLE_SECONDS = 0.25


class MockSourceTask(SourceTask):
    """Has no records."""

    def start(self, config: Mapping[str, str]) -> None:
        """Take the order, and begin to count."""
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
