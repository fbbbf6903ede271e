"""Kafka clients: what their settings do not mean here is said."""

from __future__ import annotations

import logging

from copycat_executor.kafka.client_config import ClientConfig

_log = logging.getLogger(__name__)


def warn_unknown(client: str, config: ClientConfig) -> None:
    """Name the settings that were dropped."""
    for key in config.unknown:
        _log.warning("The %s setting %s means nothing here and is left out", client, key)
