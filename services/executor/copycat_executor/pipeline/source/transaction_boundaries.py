"""Where the transactions of a source end (`transaction.boundary`, KIP-618)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config.framework_names import TRANSACTION_BOUNDARY, TRANSACTION_INTERVAL
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Boundary:
    """After each poll, unless one of the two others is chosen."""

    timeout: float
    """How long the brokers let a transaction be open (`transaction.timeout.ms`), seconds."""
    interval: float | None = None
    """Seconds between two commits; None where time plays no part."""
    by_connector: bool = False
    """Where the task asks for it, and nowhere else."""

    @classmethod
    def of(cls, settings: Mapping[str, ConfigSetting], interval: float, timeout: float) -> Boundary:
        """Read it from a source connector's settings; `interval` is the default (`offset.flush.interval.ms`).

        Raises:
            ConfigError: The interval is as long as brokers let a transaction be open, or longer.
        """
        match str(settings[TRANSACTION_BOUNDARY]).lower():
            case "connector":
                return cls(timeout, by_connector=True)
            case "interval":
                chosen = settings[TRANSACTION_INTERVAL]
                seconds = interval if chosen is None else chosen / 1000
                if seconds >= timeout:
                    raise ConfigError(_too_long(seconds, timeout), key=TRANSACTION_INTERVAL)
                return cls(timeout, interval=seconds)
            case _:
                return cls(timeout)


def _too_long(interval: float, timeout: float) -> str:
    return (
        f"Invalid value {interval * 1000:.0f} for configuration {TRANSACTION_INTERVAL}: the brokers give up "
        f"a transaction that is open for transaction.timeout.ms={timeout * 1000:.0f}. Shorten the interval "
        "(by default it is offset.flush.interval.ms), or raise producer.override.transaction.timeout.ms"
    )
