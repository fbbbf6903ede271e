"""What the offset service reads from the worker properties."""

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
    non_empty,
    non_empty_list,
    one_of,
)
from copycat_connect.config.key import Validator
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_eventlog.settings import Backend, LogSettings

log = logging.getLogger(__name__)

PREFIX = "offset.storage."
TOPIC = f"{PREFIX}topic"
PARTITIONS = f"{PREFIX}partitions"
REPLICATION_FACTOR = f"{PREFIX}replication.factor"
FILE = f"{PREFIX}file.filename"
CLEANUP_POLICY = f"{PREFIX}cleanup.policy"
SECURITY = ("security.", "sasl.", "ssl.")


def _positive_or_default(reason: str) -> Validator:
    def check(name: str, value: ConfigSetting) -> None:
        if value is None or (value < 1 and value != -1):
            raise invalid_value(name, value, reason)

    return check


EVERYWHERE = ConfigDef(
    ConfigKey(
        "offset.listen",
        STRING,
        LOW,
        default="127.0.0.1:9102",
        validator=non_empty,
        doc="host:port on which the offset service answers gRPC; port 0 picks a free one.",
    ),
    ConfigKey(
        "scheduler.addresses",
        LIST,
        LOW,
        default="127.0.0.1:9104",
        validator=non_empty_list,
        doc="host:port of each instance of the scheduler: it says whose commits are accepted.",
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
        doc="Where source offsets live: in Kafka, or in memory or a file for a standalone worker.",
    ),
    ConfigKey(
        FILE,
        STRING,
        LOW,
        default=None,
        doc="File of a standalone worker's source offsets; without it they are gone when the worker ends.",
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
        validator=non_empty,
        doc="Compacted topic that holds the offsets of source connectors.",
    ),
    ConfigKey(
        PARTITIONS,
        INT,
        LOW,
        default=25,
        validator=_positive_or_default(
            "Number of partitions must be positive, or -1 to use the broker's default"
        ),
        doc="Partitions of the offsets topic when it is created; -1 leaves it to the broker.",
    ),
    ConfigKey(
        REPLICATION_FACTOR,
        SHORT,
        LOW,
        default=3,
        validator=_positive_or_default(
            "Replication factor must be positive and not larger than the number of brokers "
            "in the Kafka cluster, or -1 to use the broker's default"
        ),
        doc="Replicas of the offsets topic when it is created; -1 leaves it to the broker.",
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's own settings."""

    listen: str
    """host:port to bind."""
    scheduler_addresses: tuple[str, ...]
    """Where the scheduler is found."""
    bootstrap_servers: str
    """Kafka's brokers, for the groups of sinks."""
    client_config: Mapping[str, str]
    """Security properties of Kafka clients."""
    log: LogSettings
    """The offsets topic."""


def read_settings(properties: Mapping[str, str]) -> Settings:
    """Read the worker properties.

    Raises:
        ConfigError: One is missing or wrong; the text names it.
    """
    found = EVERYWHERE.parse(properties)
    client_config = {key: value for key, value in properties.items() if key.startswith(SECURITY)}
    on_kafka = Backend(found["storage.backend"]) is Backend.KAFKA
    return Settings(
        listen=found["offset.listen"],
        scheduler_addresses=tuple(found["scheduler.addresses"]),
        bootstrap_servers=found["bootstrap.servers"],
        client_config=client_config,
        log=_topic(properties, client_config)
        if on_kafka
        else LogSettings(backend=Backend.MEMORY, setting=FILE, file=found[FILE]),
    )


def _topic(properties: Mapping[str, str], client_config: Mapping[str, str]) -> LogSettings:
    found = ON_KAFKA.parse(properties)
    return LogSettings(
        backend=Backend.KAFKA,
        bootstrap_servers=found["bootstrap.servers"],
        topic=found[TOPIC],
        partitions=found[PARTITIONS],
        replication_factor=found[REPLICATION_FACTOR],
        topic_configs=_topic_configs(properties),
        owner_id=f"connect-cluster-{found['group.id']}-offsets",
        setting=TOPIC,
        purpose="source connector offsets",
        client_config=client_config,
    )


def _topic_configs(properties: Mapping[str, str]) -> dict[str, str]:
    if CLEANUP_POLICY in properties:
        log.warning("ignored %s=%s: it is always compact", CLEANUP_POLICY, properties[CLEANUP_POLICY])
    return {
        key.removeprefix(PREFIX): value
        for key, value in properties.items()
        if key.startswith(PREFIX) and key not in ON_KAFKA.keys and key != CLEANUP_POLICY
    }
