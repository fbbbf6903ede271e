"""What the status service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.config import DOUBLE, INT, LONG, LOW, ConfigDef, ConfigKey, at_least, between
from copycat_connect.config.worker_keys import TOPIC_TRACKING, TOPIC_TRACKING_RESET, listen_key
from copycat_connect.errors import ConfigError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.worker_properties import LogTopic, backend_key

from copycat_status.domain.tracking import Tracking

LISTEN = listen_key("status")
RETRY = "status.storage.retry."
MAX_RETRIES = f"{RETRY}max.retries"
INITIAL_BACKOFF = f"{RETRY}initial.backoff.ms"
MAX_BACKOFF = f"{RETRY}max.backoff.ms"
MULTIPLIER = f"{RETRY}backoff.multiplier"
JITTER = f"{RETRY}jitter.factor"

EVERYWHERE = ConfigDef(
    LISTEN,
    backend_key("statuses"),
    TOPIC_TRACKING,
    TOPIC_TRACKING_RESET,
    ConfigKey(
        MAX_RETRIES,
        INT,
        LOW,
        default=5,
        validator=between(0, 2**31 - 1),
        doc="How often a failed status update is tried again; 0 is never.",
    ),
    ConfigKey(
        INITIAL_BACKOFF,
        LONG,
        LOW,
        default=300,
        validator=between(0, 2**63 - 1),
        doc="Milliseconds before the first retry of a status update.",
    ),
    ConfigKey(
        MAX_BACKOFF,
        LONG,
        LOW,
        default=10_000,
        validator=between(0, 2**63 - 1),
        doc="The longest wait between retries of a status update, in milliseconds, before jitter.",
    ),
    ConfigKey(
        MULTIPLIER,
        DOUBLE,
        LOW,
        default=2.0,
        validator=at_least(1.0),
        doc="Growth of the wait from one retry to the next.",
    ),
    ConfigKey(
        JITTER,
        DOUBLE,
        LOW,
        default=0.25,
        validator=between(0.0, 1.0),
        doc="Share of a wait that is added at random.",
    ),
)
TOPIC = LogTopic(
    name="status",
    purpose="connector and task statuses",
    owner="copycat-status-{}",
    loss="the statuses, which workers tell anew when they start, and the active topics",
    partitions=5,
)


@dataclass(frozen=True, slots=True)
class StatusServiceSettings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    log: LogSettings
    """The status topic."""
    backoff: RetryPolicy
    """How failing writes are tried again."""
    tracking: Tracking
    """What may be done with active topics."""


def read_settings(properties: Mapping[str, str]) -> StatusServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    return StatusServiceSettings(
        listen=found[LISTEN.name],
        log=TOPIC.read(properties, EVERYWHERE),
        backoff=_backoff(found),
        tracking=Tracking(found[TOPIC_TRACKING.name], found[TOPIC_TRACKING_RESET.name]),
    )


def _backoff(found: Mapping[str, Any]) -> RetryPolicy:
    initial, ceiling = found[INITIAL_BACKOFF], found[MAX_BACKOFF]
    if initial > ceiling:
        raise ConfigError(
            f"{INITIAL_BACKOFF}={initial} is more than {MAX_BACKOFF}={ceiling}: "
            "lower the first or raise the second",
            key=INITIAL_BACKOFF,
        )
    return RetryPolicy(
        first=initial / 1000,
        factor=found[MULTIPLIER],
        ceiling=ceiling / 1000,
        jitter=found[JITTER],
        max_retries=found[MAX_RETRIES],
    )
