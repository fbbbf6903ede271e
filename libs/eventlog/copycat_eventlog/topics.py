"""The log's topic: made when it is missing, checked when it is there."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.cimpl import NewTopic
from copycat_connect.errors import ConfigError

from copycat_eventlog.brokers import Brokers
from copycat_eventlog.settings import LogSettings

POLICY: Final = "cleanup.policy"
COMPACT: Final = "compact"
_log = logging.getLogger(__name__)

#: The topic is there, or somebody else must make it: go on with what is there.
_TOPIC_EXISTS_ERRORS: Final = frozenset({
    KafkaError.TOPIC_ALREADY_EXISTS,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_VERSION,
})  # fmt: skip
#: Passes when more brokers have started.
_PASSING_ERRORS: Final = frozenset({
    KafkaError.INVALID_REPLICATION_FACTOR,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_CONTROLLER,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
})  # fmt: skip


def ensure_log_topic(brokers: Brokers, settings: LogSettings) -> int:
    """Make or check the log's topic; return its number of partitions.

    Raises:
        UnavailableError: The brokers could not be reached or could not do it in time.
        ConfigError: The topic is not fit to hold the log.
    """
    topic = settings.topic
    if brokers.topic(topic) is None:
        if POLICY in settings.topic_configs:
            _log.warning("%s of topic %s is always %s; the given one is ignored", POLICY, topic, COMPACT)
        configs = {**settings.topic_configs, POLICY: COMPACT}
        created = _create(brokers, topic, settings.partitions, settings.replication_factor, configs)
    else:
        created = False
    if not created:
        _check_policy(brokers, settings)
    partitions = _await_partitions(brokers, topic)
    if settings.single_partition and partitions != 1:
        message = (
            f"Topic '{topic}' supplied via the '{settings.setting}' property is required to have a single "
            f"partition in order to guarantee consistency of {settings.purpose}, "
            f"but found {partitions} partitions."
        )
        raise ConfigError(message, topic=topic)
    return partitions


def ensure_owner_topic(brokers: Brokers, topic: str, replication_factor: int) -> None:
    """Make the empty topic whose one partition is the leadership."""
    if brokers.topic(topic) is None:
        _create(brokers, topic, 1, replication_factor, {})
        _await_partitions(brokers, topic)


def ensure_plain_topic(
    brokers: Brokers, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str]
) -> int:
    """Make a topic that is no log, where it is missing; return its number of partitions.

    Raises:
        UnavailableError: The brokers could not be reached or could not do it in time.
        ConfigError: They refuse to make it.
    """
    if brokers.topic(topic) is None:
        _create(brokers, topic, partitions, replication_factor, configs)
    return _await_partitions(brokers, topic)


def _create(
    brokers: Brokers, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str]
) -> bool:
    """Whether the topic was made, and not there already."""
    wanted = NewTopic(topic, partitions, replication_factor, config=dict(configs))
    while True:
        try:
            brokers.ask(brokers.client.create_topics([wanted])[topic])
        except KafkaException as refusal:
            error = refusal.args[0]
            if error.code() in _TOPIC_EXISTS_ERRORS:
                if error.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    _log.warning(
                        "Topic %s cannot be created here, so another instance or an operator must: %s",
                        topic,
                        error.str(),
                    )
                return False
            if error.code() not in _PASSING_ERRORS:
                message = f"Topic '{topic}' cannot be created: {error.str()}"
                raise ConfigError(message, topic=topic) from None
            brokers.pause(error, f"Creating topic '{topic}'")
        else:
            return True


def _check_policy(brokers: Brokers, settings: LogSettings) -> None:
    topic = settings.topic
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    try:
        configs = brokers.ask(brokers.client.describe_configs([resource])[resource])
    except KafkaException as refusal:
        _log.warning("Cannot check %s of topic %s: %s", POLICY, topic, refusal.args[0].str())
        return
    policy = configs[POLICY].value
    if policy != COMPACT:
        setting, purpose = settings.setting, settings.purpose
        message = (
            f"Topic '{topic}' supplied via the '{setting}' property is required to have "
            f"'cleanup.policy=compact' to guarantee consistency and durability of {purpose}, but found the "
            f"topic currently has 'cleanup.policy={policy}'. Continuing would likely result in eventually "
            f"losing {purpose} and problems restarting this Connect cluster in the future. Change the "
            f"'{setting}' property in the Connect worker configurations to use a topic with "
            "'cleanup.policy=compact'."
        )
        raise ConfigError(message, topic=topic)


def _await_partitions(brokers: Brokers, topic: str) -> int:
    while True:
        known = brokers.topic(topic)
        if known is not None and all(p.leader >= 0 for p in known.partitions.values()) and known.partitions:
            return len(known.partitions)
        brokers.pause(KafkaError(KafkaError.LEADER_NOT_AVAILABLE), f"Waiting for topic '{topic}'")
