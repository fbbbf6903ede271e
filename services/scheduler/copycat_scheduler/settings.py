"""What the scheduler reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config import INT, LOW, ConfigDef, ConfigKey, at_least, between
from copycat_connect.config.worker_keys import (
    EXACTLY_ONCE,
    METRIC_WINDOW,
    METRIC_WINDOWS,
    addresses_key,
    listen_key,
)
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.worker_properties import BOOTSTRAP_SERVERS, LogTopic, backend_key, security_of
from copycat_telemetry.metrics.sampled import Windows

LISTEN = listen_key("scheduler")
CONFIG = addresses_key("config")
STATUS = addresses_key("status")
LEASE = "worker.lease.ms"
DELAY = "scheduled.rebalance.max.delay.ms"
REFRESH = "metadata.refresh.interval.ms"
MAX_INT = 2**31 - 1
EVERYWHERE = ConfigDef(
    LISTEN,
    CONFIG,
    STATUS,
    BOOTSTRAP_SERVERS,
    backend_key("assignments"),
    ConfigKey(
        LEASE,
        INT,
        LOW,
        default=10000,
        validator=at_least(3000),
        doc="A worker that is silent for this long is lost and its work given to others; what it ran has "
        "ended by then. One whose process ends is lost at once. Tasks end when their executor or their own "
        "process gets nothing done for 2.5 seconds less: a machine that is that busy needs a longer lease.",
    ),
    ConfigKey(
        DELAY,
        INT,
        LOW,
        default=0,
        validator=between(0, MAX_INT),
        doc="How long the work of a lost worker waits for it to come back; Kafka Connect waits 300000.",
    ),
    ConfigKey(
        REFRESH,
        INT,
        LOW,
        default=3000,
        validator=at_least(100),
        doc="How often topics are looked at for new partitions while there are sinks.",
    ),
    EXACTLY_ONCE,
    METRIC_WINDOW,
    METRIC_WINDOWS,
)
TOPIC = LogTopic(
    name="assignment",
    purpose="assignments",
    owner="connect-cluster-{}-assignments",
    loss="which worker runs what, which is then decided anew",
    default_topic="{}-assignments",
)


@dataclass(frozen=True, slots=True)
class SchedulerServiceSettings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    config_addresses: tuple[str, ...]
    """Where the config service is found."""
    status_addresses: tuple[str, ...]
    """Where the status service is found."""
    bootstrap_servers: str
    """Kafka's brokers, for the topics of sinks."""
    client_config: Mapping[str, str]
    """Security properties of Kafka clients."""
    lease_ms: int
    """How long a worker may be silent."""
    delay_ms: int
    """How long the work of a lost worker waits for it."""
    refresh_ms: int
    """How often topics are read."""
    log: LogSettings
    """The assignments topic."""
    windows: Windows
    """Over which metrics are sampled."""


def read_settings(properties: Mapping[str, str]) -> SchedulerServiceSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    return SchedulerServiceSettings(
        listen=found[LISTEN.name],
        config_addresses=tuple(found[CONFIG.name]),
        status_addresses=tuple(found[STATUS.name]),
        bootstrap_servers=found[BOOTSTRAP_SERVERS.name],
        client_config=security_of(properties),
        lease_ms=found[LEASE],
        delay_ms=found[DELAY],
        refresh_ms=found[REFRESH],
        log=TOPIC.read(properties, EVERYWHERE),
        windows=Windows.of(found),
    )
