"""What the status service reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.config import LONG, LOW, at_least, between
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.config.worker_keys import TOPIC_TRACKING, TOPIC_TRACKING_RESET, listen_key
from copycat_connect.errors import ConfigError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import LogTopic, backend_key

from copycat_status.domain.tracking import Tracking

INITIAL_BACKOFF = "status.storage.retry.initial.backoff.ms"
MAX_BACKOFF = "status.storage.retry.max.backoff.ms"
TOPIC = LogTopic(
    name="status",
    purpose="connector and task statuses",
    owner="copycat-status-{}",
    loss="the statuses, which workers tell anew when they start, and the active topics",
    partitions=5,
)


class UpdateRetrySettings(Settings):
    """How a status update that failed is tried again (the KIP of the status store's retries)."""

    max_retries: int = key(
        LOW,
        name="status.storage.retry.max.retries",
        default=5,
        check=between(0, 2**31 - 1),
        doc="How often a failed status update is tried again; 0 is never.",
    )
    initial_backoff: int = key(
        LOW,
        name=INITIAL_BACKOFF,
        type=LONG,
        default=300,
        check=between(0, 2**63 - 1),
        doc="Milliseconds before the first retry of a status update.",
    )
    max_backoff: int = key(
        LOW,
        name=MAX_BACKOFF,
        type=LONG,
        default=10_000,
        check=between(0, 2**63 - 1),
        doc="The longest wait between retries of a status update, in milliseconds, before jitter.",
    )
    multiplier: float = key(
        LOW,
        name="status.storage.retry.backoff.multiplier",
        default=2.0,
        check=at_least(1.0),
        doc="Growth of the wait from one retry to the next.",
    )
    jitter: float = key(
        LOW,
        name="status.storage.retry.jitter.factor",
        default=0.25,
        check=between(0.0, 1.0),
        doc="Share of a wait that is added at random.",
    )

    def __post_init__(self) -> None:
        if self.initial_backoff > self.max_backoff:
            raise ConfigError(
                f"{INITIAL_BACKOFF}={self.initial_backoff} is more than {MAX_BACKOFF}={self.max_backoff}: "
                "lower the first or raise the second",
                key=INITIAL_BACKOFF,
            )

    @property
    def policy(self) -> RetryPolicy:
        """The same, in seconds."""
        return RetryPolicy(
            first=self.initial_backoff / 1000,
            factor=self.multiplier,
            ceiling=self.max_backoff / 1000,
            jitter=self.jitter,
            max_retries=self.max_retries,
        )


class StatusServiceSettings(Settings):
    """The service's own settings."""

    listen: str = shared_key(listen_key("status"))
    backend: Backend = shared_key(backend_key("statuses"), read=Backend)
    tracks_topics: bool = shared_key(TOPIC_TRACKING)
    allows_reset: bool = shared_key(TOPIC_TRACKING_RESET)
    retries: UpdateRetrySettings = nested()
    log: LogSettings = taken_from(lambda worker: TOPIC.read(worker, StatusServiceSettings.config_def()))
    """The status topic."""

    @property
    def tracking(self) -> Tracking:
        """What may be done with active topics."""
        return Tracking(self.tracks_topics, self.allows_reset)


def read_settings(properties: Mapping[str, str]) -> StatusServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    return StatusServiceSettings.parse(properties)
