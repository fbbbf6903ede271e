"""What the scheduler reads from the worker properties."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config import (
    HIGH,
    INT,
    LIST,
    LOW,
    SHORT,
    STRING,
    ConfigDef,
    ConfigKey,
    at_least,
    between,
    non_empty,
    non_empty_list,
    one_of,
)
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_eventlog.settings import Backend, LogSettings

log = logging.getLogger(__name__)

PREFIX = "assignment.storage."
TOPIC = f"{PREFIX}topic"
REPLICATION_FACTOR = f"{PREFIX}replication.factor"
IGNORED = {
    f"{PREFIX}cleanup.policy": "it is always compact",
    f"{PREFIX}partitions": "the assignments topic always has one",
}
SECURITY = ("security.", "sasl.", "ssl.")
LONGEST = 2**31 - 1


def _replication_factor(name: str, value: ConfigSetting) -> None:
    if value is None or (value < 1 and value != -1):
        reason = (
            "Replication factor must be positive and not larger than the number of brokers "
            "in the Kafka cluster, or -1 to use the broker's default"
        )
        raise invalid_value(name, value, reason)


EVERYWHERE = ConfigDef(
    ConfigKey(
        "scheduler.listen",
        STRING,
        LOW,
        default="127.0.0.1:9104",
        validator=non_empty,
        doc="host:port on which the scheduler answers gRPC; port 0 picks a free one.",
    ),
    ConfigKey(
        "config.addresses",
        LIST,
        LOW,
        default="127.0.0.1:9101",
        validator=non_empty_list,
        doc="host:port of each instance of the config service.",
    ),
    ConfigKey(
        "status.addresses",
        LIST,
        LOW,
        default="127.0.0.1:9103",
        validator=non_empty_list,
        doc="host:port of each instance of the status service.",
    ),
    ConfigKey(
        "bootstrap.servers",
        STRING,
        HIGH,
        default="localhost:9092",
        validator=non_empty,
        doc="Kafka brokers to connect to first, host:port, separated by commas.",
    ),
    ConfigKey(
        "storage.backend",
        STRING,
        LOW,
        default="kafka",
        validator=one_of("kafka", "memory"),
        doc="Where assignments live: in Kafka, or in memory for a standalone worker.",
    ),
    ConfigKey(
        "worker.lease.ms",
        INT,
        LOW,
        default=5000,
        validator=at_least(100),
        doc="A worker that is silent for this long is lost and its work given to others.",
    ),
    ConfigKey(
        "scheduled.rebalance.max.delay.ms",
        INT,
        LOW,
        default=0,
        validator=between(0, LONGEST),
        doc="How long the work of a lost worker waits for it to come back; Kafka Connect waits 300000.",
    ),
    ConfigKey(
        "metadata.refresh.interval.ms",
        INT,
        LOW,
        default=3000,
        validator=at_least(100),
        doc="How often topics are looked at for new partitions while there are sinks.",
    ),
)
ON_KAFKA = EVERYWHERE.extended(
    ConfigKey(
        "group.id",
        STRING,
        HIGH,
        validator=non_empty,
        doc="Name of the Connect cluster; no other cluster on the same Kafka may share it.",
    ),
    ConfigKey(
        TOPIC,
        STRING,
        HIGH,
        default=None,
        doc="Compacted topic of one partition that holds the assignments; <group.id>-assignments if not set.",
    ),
    ConfigKey(
        REPLICATION_FACTOR,
        SHORT,
        LOW,
        default=3,
        validator=_replication_factor,
        doc="Replicas of the assignments topic when it is created; -1 leaves it to the broker.",
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
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


def read_settings(properties: Mapping[str, str]) -> Settings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    client_config = {key: value for key, value in properties.items() if key.startswith(SECURITY)}
    on_kafka = Backend(found["storage.backend"]) is Backend.KAFKA
    return Settings(
        listen=found["scheduler.listen"],
        config_addresses=tuple(found["config.addresses"]),
        status_addresses=tuple(found["status.addresses"]),
        bootstrap_servers=found["bootstrap.servers"],
        client_config=client_config,
        lease_ms=found["worker.lease.ms"],
        delay_ms=found["scheduled.rebalance.max.delay.ms"],
        refresh_ms=found["metadata.refresh.interval.ms"],
        log=_topic(properties, client_config)
        if on_kafka
        else LogSettings(backend=Backend.MEMORY, setting=TOPIC),
    )


def _topic(properties: Mapping[str, str], client_config: Mapping[str, str]) -> LogSettings:
    found = ON_KAFKA.parse(properties)
    return LogSettings(
        backend=Backend.KAFKA,
        bootstrap_servers=found["bootstrap.servers"],
        topic=found[TOPIC] or f"{found['group.id']}-assignments",
        partitions=1,
        single_partition=True,
        replication_factor=found[REPLICATION_FACTOR],
        topic_configs=_topic_configs(properties),
        owner_id=f"connect-cluster-{found['group.id']}-assignments",
        setting=TOPIC,
        purpose="assignments",
        client_config=client_config,
    )


def _topic_configs(properties: Mapping[str, str]) -> dict[str, str]:
    configs = {}
    for key, value in properties.items():
        if key in IGNORED:
            log.warning("ignored %s=%s: %s", key, value, IGNORED[key])
        elif key.startswith(PREFIX) and key not in ON_KAFKA.keys:
            configs[key.removeprefix(PREFIX)] = value
    return configs
