"""What the executor reads from the worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from copycat_connect.cluster import is_wildcard
from copycat_connect.config import (
    INT,
    LONG,
    LOW,
    STRING,
    ConfigDef,
    ConfigKey,
    at_least,
)
from copycat_connect.config.client_choices import check_client_choices
from copycat_connect.config.healing import ERRORS_RESTART_KEY, POLL_TIMEOUT_KEY
from copycat_connect.config.override_policy import override_policy
from copycat_connect.config.record_tracing import TRACING_KEYS
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.worker_keys import (
    BROKER_DATA_DIR,
    CLIENT_METRIC_INTERVAL,
    CLUSTER_SECRET,
    EXACTLY_ONCE,
    KIP_STRICT,
    LOG_LEVEL,
    METRIC_WINDOW,
    METRIC_WINDOWS,
    OFFSET_FLUSH_INTERVAL,
    OFFSET_FLUSH_TIMEOUT,
    TASK_CALL_TIMEOUT,
    TASK_PROGRESS_TIMEOUT,
    TASK_SHUTDOWN_TIMEOUT,
    TOPIC_CREATION,
    TOPIC_TRACKING,
    listen_key,
)
from copycat_connect.errors import ConfigError
from copycat_rpc.secret import cluster_secret
from copycat_rpc.services import ADDRESS_KEYS, Addresses
from copycat_rpc.tls import ServicesTls, services_tls
from copycat_telemetry.metrics.sampled import Windows

ADVERTISED = "executor.advertised.address"


def _millis(name: str, default: int, doc: str, *, least: int = 1) -> ConfigKey:
    return ConfigKey(name, INT, LOW, default=default, validator=at_least(least), doc=doc)


def _memory(name: str, whose: str) -> ConfigKey:
    doc = f"Bytes of memory. {whose} Half of the machine or container if not set; 0 for no limit."
    return ConfigKey(name, LONG, LOW, default=None, validator=_optional_amount, doc=doc)


def _optional_amount(name: str, value: ConfigSetting) -> None:
    if value is not None:
        at_least(0)(name, value)


def _reachable(name: str, value: ConfigSetting) -> None:
    host, _, port = str(value).rpartition(":")
    if value and (not port.isdigit() or is_wildcard(host)):
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: must be a host:port others can reach"
        )


KEYS = ConfigDef(
    listen_key("executor"),
    ConfigKey(
        ADVERTISED,
        STRING,
        LOW,
        default="",
        validator=_reachable,
        doc="host:port at which others reach this executor; its worker id. By default what it listens on, "
        "with the name of this machine where that is every address.",
    ),
    *ADDRESS_KEYS,
    TASK_SHUTDOWN_TIMEOUT,
    TASK_PROGRESS_TIMEOUT,
    TASK_CALL_TIMEOUT,
    OFFSET_FLUSH_INTERVAL,
    OFFSET_FLUSH_TIMEOUT,
    _millis("plugin.call.timeout.ms", 90_000, "How long author code of a connector may take to come back."),
    ConfigKey(
        "max.tasks.per.connector",
        INT,
        LOW,
        default=1000,
        validator=at_least(1),
        doc="The most tasks of one connector. A larger tasks.max is valid; this many are asked for.",
    ),
    _memory(
        "connector.memory.max",
        "The process that runs the code of connectors; beyond it the connector that takes it fails.",
    ),
    _memory(
        "task.memory.max",
        "A task host; beyond it the task that takes it fails. Several tasks may share a host.",
    ),
    _millis("host.max.lifetime.ms", 1_800_000, "Age at which a host is left and ends."),
    _millis("host.linger.ms", 10_000, "How long an empty host waits for its connector's next task."),
    ConfigKey(
        "host.spares",
        INT,
        LOW,
        default=1,
        validator=at_least(0),
        doc="Hosts kept ready while slots are free, so that a task starts at once.",
    ),
    BROKER_DATA_DIR,
    CLUSTER_SECRET,
    EXACTLY_ONCE,
    ERRORS_RESTART_KEY,
    POLL_TIMEOUT_KEY,
    *TRACING_KEYS.values(),
    KIP_STRICT,
    TOPIC_CREATION,
    TOPIC_TRACKING,
    LOG_LEVEL,
    CLIENT_METRIC_INTERVAL,
    METRIC_WINDOW,
    METRIC_WINDOWS,
)


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """The executor's own settings; times are in seconds."""

    listen: str
    """host:port to bind."""
    secret: str = field(repr=False)
    """Secret of the cluster; empty for none."""
    tls: ServicesTls | None
    """Of gRPC; missing where that is in plain text."""
    advertised: str
    """host:port others use; empty for what was bound, or this machine's name."""
    addresses: Addresses
    """Where the other services are."""
    drain: float
    """For a task to drain."""
    commit: float
    """For its last commit."""
    plugin_call: float
    """For author code of a connector."""
    max_tasks: int
    """Of one connector."""
    lifetime: float
    """Of a host."""
    linger: float
    """Of an empty host."""
    spares: int
    """Hosts kept ready."""
    topic_tracking: bool
    """Whether active topics are recorded."""
    log_level: str
    """Of this process and its children."""
    windows: Windows
    """Over which metrics are sampled."""


def read_settings(properties: Mapping[str, str]) -> ExecutorSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is wrong; the text names it.
    """
    found = KEYS.parse(properties)
    override_policy(properties)  # raises on one that does not exist, before a task would
    check_client_choices(properties)
    return ExecutorSettings(
        listen=found["executor.listen"],
        secret=cluster_secret(properties),
        tls=services_tls(properties),
        advertised=found["executor.advertised.address"],
        addresses=Addresses.of(properties),
        drain=found[TASK_SHUTDOWN_TIMEOUT.name] / 1000,
        commit=found[OFFSET_FLUSH_TIMEOUT.name] / 1000,
        plugin_call=found["plugin.call.timeout.ms"] / 1000,
        max_tasks=found["max.tasks.per.connector"],
        lifetime=found["host.max.lifetime.ms"] / 1000,
        linger=found["host.linger.ms"] / 1000,
        spares=found["host.spares"],
        topic_tracking=found[TOPIC_TRACKING.name],
        log_level=found[LOG_LEVEL.name],
        windows=Windows.of(found),
    )
