"""What the scheduler reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.config import LOW, at_least, between
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.config.worker_keys import EXACTLY_ONCE, addresses_key, listen_key
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.worker_properties import BOOTSTRAP_SERVERS, LogTopic, backend_key, security_of
from copycat_telemetry.metrics.sampled import WindowSettings

TOPIC = LogTopic(
    name="assignment",
    purpose="assignments",
    owner="connect-cluster-{}-assignments",
    loss="which worker runs what, which is then decided anew",
    default_topic="{}-assignments",
)


class SchedulerServiceSettings(Settings):
    """The service's own settings."""

    listen: str = shared_key(listen_key("scheduler"))
    config_addresses: tuple[str, ...] = shared_key(addresses_key("config"), read=tuple)
    status_addresses: tuple[str, ...] = shared_key(addresses_key("status"), read=tuple)
    bootstrap_servers: str = shared_key(BOOTSTRAP_SERVERS)
    """Whom it asks for the topics of sinks."""
    backend: Backend = shared_key(backend_key("assignments"), read=Backend)
    lease_ms: int = key(
        LOW,
        name="worker.lease.ms",
        default=10000,
        check=at_least(3000),
        doc="A worker that is silent for this long is lost and its work given to others; what it ran has "
        "ended by then. One whose process ends is lost at once. Tasks end when their executor or their own "
        "process gets nothing done for 2.5 seconds less: a machine that is that busy needs a longer lease.",
    )
    delay_ms: int = key(
        LOW,
        name="scheduled.rebalance.max.delay.ms",
        default=0,
        check=between(0, 2**31 - 1),
        doc="How long the work of a lost worker waits for it to come back; Kafka Connect waits 300000.",
    )
    refresh_ms: int = key(
        LOW,
        name="metadata.refresh.interval.ms",
        default=3000,
        check=at_least(100),
        doc="How often topics are looked at for new partitions while there are sinks.",
    )
    exactly_once: str | None = shared_key(EXACTLY_ONCE)
    metrics: WindowSettings = nested()
    log: LogSettings = taken_from(lambda worker: TOPIC.read(worker, SchedulerServiceSettings.config_def()))
    """The assignments topic."""
    client_config: Mapping[str, str] = taken_from(security_of)
    """Security properties of Kafka clients."""


def read_settings(properties: Mapping[str, str]) -> SchedulerServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    return SchedulerServiceSettings.parse(properties)
