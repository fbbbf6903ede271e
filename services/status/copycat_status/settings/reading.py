"""What the status service reads from the worker properties."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.errors import ConfigError
from copycat_eventlog.settings import Backend, LogSettings

from copycat_status.domain.backoff import Backoff
from copycat_status.domain.tracking import Tracking
from copycat_status.settings.definition import (
    ALLOW_RESET,
    BACKEND,
    EVERYWHERE,
    INITIAL_BACKOFF,
    JITTER,
    LISTEN,
    MAX_BACKOFF,
    MAX_RETRIES,
    MULTIPLIER,
    ON_KAFKA,
    PARTITIONS,
    PREFIX,
    REPLICATION_FACTOR,
    TOPIC,
    TRACKING,
)

log = logging.getLogger(__name__)

CLEANUP_POLICY = f"{PREFIX}cleanup.policy"
SECURITY = ("security.", "sasl.", "ssl.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    log: LogSettings
    """The status topic."""
    backoff: Backoff
    """How failing writes are tried again."""
    tracking: Tracking
    """What may be done with active topics."""


def read_settings(properties: Mapping[str, str]) -> Settings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    backend = Backend(found[BACKEND])
    return Settings(
        listen=found[LISTEN],
        log=LogSettings(backend=backend, setting=TOPIC) if backend is Backend.MEMORY else _kafka(properties),
        backoff=_backoff(found),
        tracking=Tracking(found[TRACKING], found[ALLOW_RESET]),
    )


def _kafka(properties: Mapping[str, str]) -> LogSettings:
    found = ON_KAFKA.parse(properties)
    return LogSettings(
        backend=Backend.KAFKA,
        bootstrap_servers=found["bootstrap.servers"],
        topic=found[TOPIC],
        partitions=found[PARTITIONS],
        replication_factor=found[REPLICATION_FACTOR],
        topic_configs=_topic_configs(properties),
        owner_id=f"copycat-status-{found['group.id']}",
        setting=TOPIC,
        purpose="connector and task statuses",
        client_config={key: value for key, value in properties.items() if key.startswith(SECURITY)},
    )


def _backoff(found: Mapping[str, Any]) -> Backoff:
    initial, ceiling = found[INITIAL_BACKOFF], found[MAX_BACKOFF]
    if initial > ceiling:
        message = (
            f"{INITIAL_BACKOFF}={initial} is more than {MAX_BACKOFF}={ceiling}: "
            "lower the first or raise the second"
        )
        raise ConfigError(message, key=INITIAL_BACKOFF)
    return Backoff(
        max_retries=found[MAX_RETRIES],
        initial=initial / 1000,
        ceiling=ceiling / 1000,
        multiplier=found[MULTIPLIER],
        jitter=found[JITTER],
    )


def _topic_configs(properties: Mapping[str, str]) -> dict[str, str]:
    configs = {}
    for key, value in properties.items():
        if key == CLEANUP_POLICY:
            log.warning("ignored %s=%s: it is always compact", key, value)
        elif key.startswith(PREFIX) and key not in ON_KAFKA.keys:
            configs[key.removeprefix(PREFIX)] = value
    return configs
