"""What the executor reads from the worker properties."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from copycat_connect.cluster import is_wildcard
from copycat_connect.config import INT, LONG, LOW, STRING, ConfigDef, ConfigKey, at_least
from copycat_connect.config.client_choices import check_client_choices
from copycat_connect.config.client_overrides import override_policy
from copycat_connect.config.healing import ERRORS_RESTART_KEY, POLL_TIMEOUT_KEY
from copycat_connect.config.record_tracing import TRACING_KEYS
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import (
    Settings,
    key,
    nested,
    seconds_key,
    seconds_of,
    shared_key,
    taken_from,
)
from copycat_connect.config.worker_keys import (
    BROKER_DATA_DIR,
    CLIENT_METRIC_INTERVAL,
    CLUSTER_SECRET,
    EXACTLY_ONCE,
    KIP_STRICT,
    LOG_LEVEL,
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
from copycat_telemetry.metrics.sampled import WindowSettings

ADVERTISED: Final = "executor.advertised.address"
DRIVER_MASTER: Final = "spark.drivers.master"
DRIVER_MEMORY: Final = "spark.drivers.memory"
DEFAULT_DRIVER_MEMORY: Final = "512m"


def _optional_amount(name: str, value: ConfigSetting) -> None:
    if value is not None:
        at_least(0)(name, value)


def _reachable(name: str, value: ConfigSetting) -> None:
    host, _, port = str(value).rpartition(":")
    if value and (not port.isdigit() or is_wildcard(host)):
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: must be a host:port others can reach"
        )


def _memory_limit(name: str, whose: str) -> ConfigKey:
    doc = f"Bytes of memory. {whose} Half of the machine or container if not set; 0 for no limit."
    return ConfigKey(name, LONG, LOW, default=None, validator=_optional_amount, doc=doc)


def _heap(name: str, value: ConfigSetting) -> None:
    if not isinstance(value, str) or re.fullmatch(r"[1-9]\d*[mg]", value) is None:
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: expected a number with m or g, e.g. 512m",
            key=name,
        )


def _master(name: str, value: ConfigSetting) -> None:
    if value is None:
        return
    if re.fullmatch(r"local(\[(\d+|\*)\])?|spark://.+|k8s://.+|yarn", str(value)) is None:
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: expected e.g. spark://HOST:7077 or local[64]",
            key=name,
        )


OF_CHILDREN: Final = ConfigDef(
    TASK_PROGRESS_TIMEOUT,
    TASK_CALL_TIMEOUT,
    OFFSET_FLUSH_INTERVAL,
    _memory_limit(
        "connector.memory.max",
        "The process that runs the code of connectors; beyond it the connector that takes it fails.",
    ),
    _memory_limit(
        "task.memory.max",
        "A task host; beyond it the task that takes it fails. Several tasks may share a host.",
    ),
    ConfigKey(
        DRIVER_MEMORY,
        STRING,
        LOW,
        default=DEFAULT_DRIVER_MEMORY,
        validator=_heap,
        doc="Heap of the JVM of a driver of Spark, e.g. 512m or 2g; all that its connector reads at a time "
        "passes through it, on a cluster through executors of Spark with as much.",
    ),
    ConfigKey(
        DRIVER_MASTER,
        STRING,
        LOW,
        default=None,
        validator=_master,
        doc="Where the partitions of drivers of Spark run, e.g. spark://HOST:7077. By default on the cluster "
        "of spark.master, or on this machine where that is none.",
    ),
    BROKER_DATA_DIR,
    EXACTLY_ONCE,
    ERRORS_RESTART_KEY,
    POLL_TIMEOUT_KEY,
    *TRACING_KEYS.values(),
    KIP_STRICT,
    TOPIC_CREATION,
    CLIENT_METRIC_INTERVAL,
)
"""What task hosts and the processes of connectors read: a wrong value refuses the executor's start."""


class ExecutorSettings(Settings):
    """The executor's own settings; times are in seconds."""

    listen: str = shared_key(listen_key("executor"))
    advertised: str = key(
        LOW,
        name=ADVERTISED,
        default="",
        check=_reachable,
        doc="host:port at which others reach this executor; its worker id. By default what it listens on, "
        "with the name of this machine where that is every address.",
    )
    addresses: Addresses = taken_from(Addresses.of, keys=ADDRESS_KEYS)
    drain: float = shared_key(TASK_SHUTDOWN_TIMEOUT, read=seconds_of)
    commit: float = shared_key(OFFSET_FLUSH_TIMEOUT, read=seconds_of)
    """For a task's last commit."""
    plugin_call: float = seconds_key(
        "plugin.call.timeout.ms",
        default=90_000,
        type=INT,
        doc="How long author code of a connector may take to come back.",
    )
    max_tasks: int = key(
        LOW,
        name="max.tasks.per.connector",
        default=1000,
        check=at_least(1),
        doc="The most tasks of one connector. A larger tasks.max is valid; this many are asked for.",
    )
    lifetime: float = seconds_key(
        "host.max.lifetime.ms",
        default=1_800_000,
        type=INT,
        doc="Age at which a host is left and ends.",
    )
    linger: float = seconds_key(
        "host.linger.ms",
        default=10_000,
        type=INT,
        doc="How long an empty host waits for its connector's next task.",
    )
    spares: int = key(
        LOW,
        name="host.spares",
        default=1,
        check=at_least(0),
        doc="Hosts kept ready while slots are free, so that a task starts at once.",
    )
    drivers: int = key(
        LOW,
        name="spark.drivers.max",
        default=4,
        check=at_least(0),
        doc="The most drivers of Spark at a time: one for each connector that Spark reads, 0.7 GB and more.",
    )
    secret: str = taken_from(cluster_secret, keys=[CLUSTER_SECRET])
    tls: ServicesTls | None = taken_from(services_tls)
    """Of gRPC; missing where that is in plain text."""
    topic_tracking: bool = shared_key(TOPIC_TRACKING)
    log_level: str = shared_key(LOG_LEVEL)
    """Of this process and its children."""
    metrics: WindowSettings = nested()


def read_settings(properties: Mapping[str, str]) -> ExecutorSettings:
    """Read the worker properties.

    Raises:
        ConfigError: One is wrong; the text names it.
    """
    OF_CHILDREN.parse(properties)
    override_policy(properties)  # raises on one that does not exist, before a task would
    check_client_choices(properties)
    return ExecutorSettings.parse(properties)
