"""What the config service reads from the worker properties."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config import HIGH, LOW, SHORT, STRING, ConfigDef, ConfigKey, non_empty, one_of
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_eventlog.settings import Backend, LogSettings

log = logging.getLogger(__name__)

PREFIX = "config.storage."
TOPIC = f"{PREFIX}topic"
REPLICATION_FACTOR = f"{PREFIX}replication.factor"
IGNORED = {
    f"{PREFIX}cleanup.policy": "it is always compact",
    f"{PREFIX}partitions": "the config topic always has one",
}
SECURITY = ("security.", "sasl.", "ssl.")


def _replication_factor(name: str, value: ConfigSetting) -> None:
    if value is None or (value < 1 and value != -1):
        reason = (
            "Replication factor must be positive and not larger than the number of brokers "
            "in the Kafka cluster, or -1 to use the broker's default"
        )
        raise invalid_value(name, value, reason)


EVERYWHERE = ConfigDef(
    ConfigKey(
        "config.listen",
        STRING,
        LOW,
        default="127.0.0.1:9101",
        validator=non_empty,
        doc="host:port on which the config service answers gRPC; port 0 picks a free one.",
    ),
    ConfigKey(
        "storage.backend",
        STRING,
        LOW,
        default="kafka",
        validator=one_of("kafka", "memory"),
        doc="Where connector configurations live: in Kafka, or in memory for a standalone worker.",
    ),
)
ON_KAFKA = EVERYWHERE.extended(
    ConfigKey(
        "bootstrap.servers",
        STRING,
        HIGH,
        default="localhost:9092",
        validator=non_empty,
        doc="Kafka brokers to connect to first, host:port, separated by commas.",
    ),
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
        validator=non_empty,
        doc="Compacted topic of one partition that holds the connector configurations.",
    ),
    ConfigKey(
        REPLICATION_FACTOR,
        SHORT,
        LOW,
        default=3,
        validator=_replication_factor,
        doc="Replicas of the config topic when it is created; -1 leaves it to the broker.",
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    log: LogSettings
    """The config topic."""


def read_settings(properties: Mapping[str, str]) -> Settings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    backend = Backend(found["storage.backend"])
    if backend is Backend.MEMORY:
        return Settings(found["config.listen"], LogSettings(backend=backend, setting=TOPIC))
    found = ON_KAFKA.parse(properties)
    return Settings(
        found["config.listen"],
        LogSettings(
            backend=backend,
            bootstrap_servers=found["bootstrap.servers"],
            topic=found[TOPIC],
            partitions=1,
            single_partition=True,
            replication_factor=found[REPLICATION_FACTOR],
            topic_configs=_topic_configs(properties),
            # The id Kafka Connect's leader has: whoever comes later fences the other, whichever of us it is.
            owner_id=f"connect-cluster-{found['group.id']}",
            setting=TOPIC,
            purpose="connector configurations",
            client_config={key: value for key, value in properties.items() if key.startswith(SECURITY)},
        ),
    )


def _topic_configs(properties: Mapping[str, str]) -> dict[str, str]:
    configs = {}
    for key, value in properties.items():
        if key in IGNORED:
            log.warning("ignored %s=%s: %s", key, value, IGNORED[key])
        elif key.startswith(PREFIX) and key not in ON_KAFKA.keys:
            configs[key.removeprefix(PREFIX)] = value
    return configs
