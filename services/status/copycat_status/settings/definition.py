"""The worker properties that the status service knows."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    DOUBLE,
    HIGH,
    INT,
    LONG,
    LOW,
    SHORT,
    STRING,
    ConfigDef,
    ConfigKey,
    at_least,
    between,
    non_empty,
    one_of,
)
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting

LISTEN = "status.listen"
BACKEND = "storage.backend"
TRACKING = "topic.tracking.enable"
ALLOW_RESET = "topic.tracking.allow.reset"
PREFIX = "status.storage."
TOPIC = f"{PREFIX}topic"
PARTITIONS = f"{PREFIX}partitions"
REPLICATION_FACTOR = f"{PREFIX}replication.factor"
MAX_RETRIES = f"{PREFIX}retry.max.retries"
INITIAL_BACKOFF = f"{PREFIX}retry.initial.backoff.ms"
MAX_BACKOFF = f"{PREFIX}retry.max.backoff.ms"
MULTIPLIER = f"{PREFIX}retry.backoff.multiplier"
JITTER = f"{PREFIX}retry.jitter.factor"


def _partitions(name: str, value: ConfigSetting) -> None:
    if value is None or (value < 1 and value != -1):
        reason = "Number of partitions must be positive, or -1 to use the broker's default"
        raise invalid_value(name, value, reason)


def _replication_factor(name: str, value: ConfigSetting) -> None:
    if value is None or (value < 1 and value != -1):
        reason = (
            "Replication factor must be positive and not larger than the number of brokers "
            "in the Kafka cluster, or -1 to use the broker's default"
        )
        raise invalid_value(name, value, reason)


EVERYWHERE = ConfigDef(
    ConfigKey(
        LISTEN,
        STRING,
        LOW,
        default="127.0.0.1:9103",
        validator=non_empty,
        doc="host:port on which the status service answers gRPC; port 0 picks a free one.",
    ),
    ConfigKey(
        BACKEND,
        STRING,
        LOW,
        default="kafka",
        validator=one_of("kafka", "memory"),
        doc="Where statuses live: in Kafka, or in memory for a standalone worker.",
    ),
    ConfigKey(TRACKING, BOOLEAN, LOW, default=True, doc="Whether active topics are recorded and shown."),
    ConfigKey(ALLOW_RESET, BOOLEAN, LOW, default=True, doc="Whether active topics may be reset."),
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
        TOPIC, STRING, HIGH, validator=non_empty, doc="Compacted topic that holds statuses and active topics."
    ),
    ConfigKey(
        PARTITIONS,
        INT,
        LOW,
        default=5,
        validator=_partitions,
        doc="Partitions of the status topic when it is created; -1 leaves them to the broker.",
    ),
    ConfigKey(
        REPLICATION_FACTOR,
        SHORT,
        LOW,
        default=3,
        validator=_replication_factor,
        doc="Replicas of the status topic when it is created; -1 leaves it to the broker.",
    ),
)
