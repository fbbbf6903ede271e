"""Failures on order: the keys and texts that Kafka's mock connectors share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from copycat_connect.config import HIGH, LONG, MEDIUM, STRING, ConfigDef, ConfigKey, at_least, one_of
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConnectError

MOCK_MODE = "mock_mode"
DELAY_MS = "delay_ms"
CONNECTOR_FAILURE = "connector-failure"
TASK_FAILURE = "task-failure"

_known = one_of(CONNECTOR_FAILURE, TASK_FAILURE)


def _mode_or_none(name: str, value: ConfigSetting) -> None:
    if value is not None:
        _known(name, value)


CONFIG = ConfigDef(
    ConfigKey(
        MOCK_MODE,
        STRING,
        HIGH,
        default=None,
        validator=_mode_or_none,
        doc="What fails: connector-failure or task-failure; nothing without it.",
    ),
    ConfigKey(
        DELAY_MS,
        LONG,
        MEDIUM,
        default=15_000,
        validator=at_least(0),
        doc="Milliseconds from the start to the failure.",
    ),
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
        parsed = CONFIG.parse(config)
        self.is_ordered = parsed[MOCK_MODE] == mode
        self.delay_millis: int = parsed[DELAY_MS]
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
