"""Failures on order: the keys, the connector and the texts that Kafka's mock connectors share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Timer

from copycat_connect.config import HIGH, LONG, MEDIUM, at_least, one_of
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key
from copycat_connect.errors import ConnectError
from copycat_connect.plugin.connectors import Connector

MOCK_MODE = "mock_mode"
DELAY_MS = "delay_ms"
CONNECTOR_FAILURE = "connector-failure"
TASK_FAILURE = "task-failure"

_known = one_of(CONNECTOR_FAILURE, TASK_FAILURE)


def _mode_or_none(name: str, value: ConfigSetting) -> None:
    if value is not None:
        _known(name, value)


class OrderedFailureSettings(Settings):
    """What fails, and when."""

    mock_mode: str | None = key(
        HIGH,
        name=MOCK_MODE,
        default=None,
        check=_mode_or_none,
        doc="What fails: connector-failure or task-failure; nothing without it.",
    )
    delay_ms: int = key(
        MEDIUM,
        name=DELAY_MS,
        type=LONG,
        default=15_000,
        check=at_least(0),
        doc="Milliseconds from the start to the failure.",
    )


EXAMPLES = {
    "A connector that fails after five seconds": {MOCK_MODE: CONNECTOR_FAILURE, DELAY_MS: "5000"},
    "A task that fails at once": {MOCK_MODE: TASK_FAILURE, DELAY_MS: "0"},
}


class OrderedFailure:
    """When somebody fails, if at all; counted from when this was made."""

    def __init__(
        self, config: Mapping[str, str], mode: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Read the order; it concerns whoever fails in that mode."""
        settings = OrderedFailureSettings.parse(config)
        self.is_ordered = settings.mock_mode == mode
        self.delay_millis = settings.delay_ms
        self._mode = mode
        self._clock = clock
        self._start = clock()

    def seconds_left(self) -> float:
        """Return how long it is until the failure, 0 when it is due."""
        return max(self._start + self.delay_millis / 1000 - self._clock(), 0.0)

    def error(self) -> ConnectError:
        """Return what to fail with."""
        return ConnectError(f"Failed on order: {MOCK_MODE}={self._mode}, {DELAY_MS}={self.delay_millis}")

    def raise_if_due(self) -> None:
        """Do nothing before its time, or where no failure is ordered.

        Raises:
            ConnectError: The time has come.
        """
        if self.is_ordered and self.seconds_left() <= 0:
            raise self.error()


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
