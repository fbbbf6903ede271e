"""Topics that a task needs are created here (KIP-158, dead letter queues)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final
from weakref import WeakValueDictionary

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat_connect.config.framework_names import DLQ_REPLICATION_FACTOR, TOPIC_CREATION_PREFIX
from copycat_connect.config.topic_creation import CreationGroups, NewTopic
from copycat_connect.errors import ConnectError
from copycat_connect.topic_ids import Ask

from copycat_executor.kafka.client_config import ClientConfig, connection_of
from copycat_executor.kafka.connections import check_brokers

_log = logging.getLogger(__name__)
_ANSWER_TIMEOUT_SECONDS: Final = 30.0
_AUTHORIZATION_ERRORS: Final = frozenset({
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
})  # fmt: skip


class KafkaTopics:
    """Looks topics up and creates them; connects when first used."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._client: AdminClient | None = None

    def exists(self, topic: str) -> bool:
        """Return whether a topic is there."""
        # Not list_topics: a broker that creates topics by itself takes that for a wish.
        described = self._admin().describe_topics(TopicCollection([topic]))
        try:
            described[topic].result(_ANSWER_TIMEOUT_SECONDS)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return False
            raise
        return True

    def create(self, topic: NewTopic) -> None:
        """Create a topic; one that is there already is fine.

        Raises:
            KafkaException: Kafka refused.
        """
        wanted = ClientTopic(
            topic.name, topic.partitions, topic.replication_factor, config=dict(topic.configs)
        )
        try:
            self._admin().create_topics([wanted])[topic.name].result(_ANSWER_TIMEOUT_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def _admin(self) -> AdminClient:
        # Kept: a client that is dropped before its answer never gives one.
        if self._client is None:
            check_brokers(self._config)
            self._client = AdminClient(dict(self._config.properties), logger=_log)
        return self._client


def topic_asker(config: ClientConfig) -> Ask:
    """Return what asks for topics (`TopicIds`), as whom these settings of a client make it."""
    client = _shared_client(connection_of(config))
    return lambda topics: client.describe_topics(
        TopicCollection(list(topics)), request_timeout=_ANSWER_TIMEOUT_SECONDS
    )


#: By how they reach the brokers: each has threads and connections, until the last task that uses it is gone.
_shared: Final[WeakValueDictionary[tuple[tuple[str, str], ...], AdminClient]] = WeakValueDictionary()


def _shared_client(connection: Mapping[str, str]) -> AdminClient:
    """Return the one client of this process that reaches these brokers as this user."""
    properties = {**connection, "client.id": "connector-topic-ids"}
    key = tuple(sorted(properties.items()))
    client = _shared.get(key)
    if client is None:
        client = _shared[key] = AdminClient(dict(properties), logger=_log)
    return client


class GroupTopicCreator:
    """Creates missing topics of a source by its groups (`TopicCreator`)."""

    def __init__(self, topics: KafkaTopics, groups: CreationGroups) -> None:
        self._topics = topics
        self._groups = groups

    def ensure(self, topic: str) -> None:
        """Create the topic when it is missing."""
        wanted = self._groups.new_topic(topic)
        try:
            if not self._topics.exists(topic):
                self._topics.create(wanted)
        except (KafkaException, TimeoutError) as error:
            raise ConnectError(_not_created(wanted, error)) from error


def _not_created(wanted: NewTopic, error: Exception) -> str:
    """Say what was asked for and by which keys; begins and ends as Kafka Connect's text does."""
    asked = (
        f"partitions={wanted.partitions}, replication factor={wanted.replication_factor}, "
        f"configs={dict(wanted.configs)}, by {TOPIC_CREATION_PREFIX}{wanted.group}.*{_login_of(error)}"
    )
    return (
        f"Task failed to create new topic {wanted.name} ({asked}). Ensure that the task is authorized to "
        "create topics or that the topic exists and restart the task"
    )


def _login_of(error: Exception) -> str:
    if isinstance(error, KafkaException) and error.args[0].code() in _AUTHORIZATION_ERRORS:
        return ", as the principal of the worker or of admin.override.sasl.jaas.config, which may not"
    return ""


def ensure_dead_letter_topic(topics: KafkaTopics, topic: str, replication_factor: int) -> None:
    """Create the topic of a dead letter queue when it is missing.

    Raises:
        ConnectError: It is missing and cannot be created.
    """
    try:
        if not topics.exists(topic):
            topics.create(NewTopic(topic, 1, replication_factor))
    except (KafkaException, TimeoutError) as error:
        raise ConnectError(
            f"Could not initialize dead letter queue with topic={topic}. Ensure that the task is authorized "
            f"to create topics and that there are brokers for {DLQ_REPLICATION_FACTOR}={replication_factor}, "
            "or create the topic, and restart the task"
        ) from error
