"""The log's topic: made when it is missing, checked when it is there."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewTopic
from copycat_connect.errors import ConfigError, LogLostError
from copycat_telemetry.changes import log_change

from copycat_eventlog.brokers import Brokers
from copycat_eventlog.owner import owner_topic
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.worker_properties import TOPIC_CREATION

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
        LogLostError: It is gone, and nothing else knows what it held.
    """
    topic, known = settings.topic, brokers.topics()
    # The topic of the election is always made after the log's.
    was_there = bool(settings.owner_id) and owner_topic(settings.owner_id) in known
    if topic not in known:
        if not settings.creates_topics:
            raise _missing(f"Topic '{topic}' specified via the '{settings.setting}' property", topic)
        if was_there:
            _tell_missing(settings)
        if POLICY in settings.topic_configs:
            _log.warning("%s of topic %s is always %s; the given one is ignored", POLICY, topic, COMPACT)
        configs = {**settings.topic_configs, POLICY: COMPACT}
        created = _create(brokers, topic, settings.partitions, settings.replication_factor, configs)
    else:
        created = False
    if not created:
        _check_policy(brokers, settings, was_there=was_there)
    partitions = _await_partitions(brokers, topic)
    if settings.single_partition and partitions != 1:
        raise ConfigError(
            f"Topic '{topic}' supplied via the '{settings.setting}' property is required to have a single "
            f"partition in order to guarantee consistency of {settings.purpose}, "
            f"but found {partitions} partitions.",
            topic=topic,
        )
    return partitions


def lost_while_running(settings: LogSettings, *, another: bool) -> LogLostError:
    """Return the message for everybody once the topic is gone; `another` one may have taken its name."""
    what = "was deleted and made anew" if another else "was deleted"
    message = (
        f"{_named(settings)} {what} while Copycat ran on it. With it is lost {settings.loss}. Nothing is "
        "written to it any more. What it held is still shown until the service that reads it ends: save "
        f"first what you need. {_ways_on(settings)}."
    )
    return LogLostError(message, topic=settings.topic)


def _tell_missing(settings: LogSettings) -> None:
    """Refuse to start where the topic's loss is one for good; else say it."""
    if settings.loss_accepted or not settings.irreplaceable:
        log_change(
            _log, "a topic is gone and made anew", logging.WARNING, topic=settings.topic, lost=settings.loss
        )
        return
    raise LogLostError(
        f"{_named(settings)} is not there, though this cluster had one. It was deleted, or "
        f"{settings.setting} named another one before. If it was deleted, lost is {settings.loss}. It is not "
        "made anew by itself, or Copycat would go on as if nothing were lost. "
        f"{_ways_on(settings)}; or name the former topic in {settings.setting}.",
        topic=settings.topic,
    )


def _named(settings: LogSettings) -> str:
    return f"Topic '{settings.topic}' ({settings.setting})"


def _ways_on(settings: LogSettings) -> str:
    if not settings.irreplaceable:
        return (
            "The way on: start Copycat again, all of it; the topic is made anew. One that has taken its name "
            f"must be deleted first, or named in lost.topics.accept={settings.topic}"
        )
    return (
        "The ways on: put the topic back from a copy; or accept the loss: start the service "
        f"with lost.topics.accept={settings.topic} (`copycat up --set lost.topics.accept={settings.topic}`), "
        "which makes it anew, empty"
    )


def ensure_owner_topic(brokers: Brokers, settings: LogSettings) -> None:
    """Make the empty topic whose one partition is the leadership.

    Raises:
        UnavailableError: The brokers could not be reached or could not do it in time.
        ConfigError: It is missing and is not to be made, or they refuse to make it.
    """
    topic = owner_topic(settings.owner_id)
    use = f"in which who writes to '{settings.topic}' is elected"
    ensure_plain_topic(brokers, settings, topic, 1, {}, use=use)


def ensure_plain_topic(
    brokers: Brokers, log: LogSettings, topic: str, partitions: int, configs: Mapping[str, str], *, use: str
) -> int:
    """Make a topic that is no log but belongs to one, where it is missing; return its number of partitions.

    `use` says in messages what it is for.

    Raises:
        UnavailableError: The brokers could not be reached or could not do it in time.
        ConfigError: It is missing and is not to be made, or they refuse to make it.
    """
    if brokers.topic(topic) is None:
        if not log.creates_topics:
            raise _missing(f"Topic '{topic}' ({partitions} partitions), {use},", topic)
        _create(brokers, topic, partitions, log.replication_factor, configs)
    return _await_partitions(brokers, topic)


def _missing(what: str, topic: str) -> ConfigError:
    """Return Kafka Connect's refusal to run without an internal topic that it may not make (KIP-1209)."""
    return ConfigError(
        f"{what} is missing. The config '{TOPIC_CREATION.name}' is set to 'false', so automatic creation of "
        "internal topics is disabled. Either enable automatic creation or create the topics manually.",
        topic=topic,
    )


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
                raise ConfigError(f"Topic '{topic}' cannot be created: {error.str()}", topic=topic) from None
            brokers.pause(error, f"Creating topic '{topic}'")
        else:
            return True


def _check_policy(brokers: Brokers, settings: LogSettings, *, was_there: bool) -> None:
    topic = settings.topic
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    try:
        configs = brokers.ask(brokers.client.describe_configs([resource])[resource])
    except KafkaException as refusal:
        _log.warning("Cannot check %s of topic %s: %s", POLICY, topic, refusal.args[0].str())
        return
    policy = configs[POLICY].value
    if policy != COMPACT and settings.loss_accepted:
        _compact(brokers, settings)
    elif policy != COMPACT:
        setting, purpose = settings.setting, settings.purpose
        message = (
            f"Topic '{topic}' supplied via the '{setting}' property is required to have "
            f"'cleanup.policy=compact' to guarantee consistency and durability of {purpose}, but found the "
            f"topic currently has 'cleanup.policy={policy}'. Continuing would likely result in eventually "
            f"losing {purpose} and problems restarting this Connect cluster in the future. Change the "
            f"'{setting}' property in the Connect worker configurations to use a topic with "
            "'cleanup.policy=compact'."
        )
        if was_there:
            message += (
                f" This cluster has kept {purpose} in Kafka before. If that topic was deleted, a broker has "
                f"made this one since (auto.create.topics.enable), and lost is {settings.loss}. "
                f"{_ways_on(settings)}. If only its {POLICY} was changed, set it back: `kafka-configs.sh "
                f"--alter --entity-type topics --entity-name {topic} --add-config {POLICY}={COMPACT}`."
            )
        raise ConfigError(message, topic=topic)


def _compact(brokers: Brokers, settings: LogSettings) -> None:
    """Use a topic that a broker has made in place of the one that is lost."""
    topic = settings.topic
    entry = ConfigEntry(POLICY, COMPACT, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    try:
        brokers.ask(brokers.client.incremental_alter_configs([resource])[resource])
    except KafkaException as refusal:
        raise ConfigError(
            f"{POLICY} of topic '{topic}' cannot be set to {COMPACT}: {refusal.args[0].str()}", topic=topic
        ) from None
    log_change(
        _log, "a topic that was made anew is compacted", logging.WARNING, topic=topic, lost=settings.loss
    )


def _await_partitions(brokers: Brokers, topic: str) -> int:
    while True:
        known = brokers.topic(topic)
        if known is not None and all(p.leader >= 0 for p in known.partitions.values()) and known.partitions:
            return len(known.partitions)
        brokers.pause(KafkaError(KafkaError.LEADER_NOT_AVAILABLE), f"Waiting for topic '{topic}'")
