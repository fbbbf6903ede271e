"""What a process does first: have its logs, and its spans where that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import LOG_LEVEL, SPAN_ENDPOINT

from copycat_telemetry.logs import configure_logging
from copycat_telemetry.tracing import configure_tracing

KEYS: Final = ConfigDef(LOG_LEVEL, SPAN_ENDPOINT)


def begin_telemetry(service: str, worker: Mapping[str, str]) -> None:
    """Send the logs of this process to stderr, and spans where the worker's properties say.

    Raises:
        ConfigError: `log.level` is not a level.
    """
    found = KEYS.parse(worker)
    configure_logging(service, found[LOG_LEVEL.name])
    configure_tracing(service, found[SPAN_ENDPOINT.name])
