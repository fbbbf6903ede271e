"""What a user can do about records that Kafka did not take or give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from copycat_connect.config.topic_creation import DEFAULT_GROUP, PARTITIONS, REPLICATION_FACTOR, creation_key
from copycat_connect.errors import ConnectError, RetriableError

#: The client's own words, without public names: it never saw the topic, or saw it or its partition go, the
#: last while records waited for that very partition.
#: librdkafka's own codes, without public names.
UNKNOWN_TOPIC: Final = -188
UNKNOWN_PARTITION: Final = -190
REMOVED_PARTITION: Final = -197
FENCED: Final = -144
FATAL: Final = -150
UNSUPPORTED_FEATURE: Final = -165
ERRONEOUS_STATE: Final = -172

_HOW_TO_CREATE: Final = (
    f"Create it, or set {creation_key(DEFAULT_GROUP, PARTITIONS)} "
    f"and {creation_key(DEFAULT_GROUP, REPLICATION_FACTOR)}"
)
_MISSING_TOPIC: Final = f"it does not exist and nobody creates it. {_HOW_TO_CREATE}"
_DELETED_TOPIC: Final = f"it was deleted, or has no such partition. {_HOW_TO_CREATE}"
_REMEDIES: Final[Mapping[int, str]] = {
    KafkaError.UNKNOWN_TOPIC_OR_PART: _MISSING_TOPIC,
    UNKNOWN_TOPIC: _MISSING_TOPIC,
    UNKNOWN_PARTITION: _DELETED_TOPIC,
    REMOVED_PARTITION: _DELETED_TOPIC,
    KafkaError.TOPIC_AUTHORIZATION_FAILED: (
        "the producer may not write to it. Allow its principal to, or give another one in "
        "producer.override.sasl.jaas.config"
    ),
    KafkaError.TOPIC_EXCEPTION: "Kafka does not allow this name. Change where the connector writes to",
    KafkaError.MSG_SIZE_TOO_LARGE: (
        "a record is too large. Raise producer.override.max.request.size, and max.message.bytes of the topic"
    ),
}
_READING_REMEDIES: Final[Mapping[int, str]] = {
    KafkaError.UNKNOWN_TOPIC_OR_PART: "it does not exist. Create it, or take it out of topics",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: (
        "the consumer may not read it. Allow its principal to, or give another one in "
        "consumer.override.sasl.jaas.config"
    ),
    KafkaError.GROUP_AUTHORIZATION_FAILED: (
        "the consumer may not use its group. Allow its principal to, or give another one in "
        "consumer.override.sasl.jaas.config, or another group in consumer.override.group.id"
    ),
}


_NO_TRANSACTIONS: Final = (
    "these brokers have no transactions. Use brokers of Kafka 0.11 or newer, or "
    "delivery.guarantee=at_least_once"
)
_TRANSACTION_REMEDIES: Final[Mapping[int, str]] = {
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
        "the producer may not use its transactional id. Allow its principal WRITE and DESCRIBE on it, or "
        "give another one in producer.override.sasl.jaas.config"
    ),
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: (
        "the producer may not write idempotently. Allow its principal IDEMPOTENT_WRITE on the cluster, or "
        "give another one in producer.override.sasl.jaas.config"
    ),
    KafkaError.INVALID_TRANSACTION_TIMEOUT: (
        "the brokers allow no transaction that long. Lower producer.override.transaction.timeout.ms, or "
        "raise transaction.max.timeout.ms of the brokers"
    ),
    UNSUPPORTED_FEATURE: _NO_TRANSACTIONS,
    KafkaError.UNSUPPORTED_VERSION: _NO_TRANSACTIONS,
}


def not_begun(transactional_id: str, error: KafkaError) -> ConnectError:
    """Say why a producer cannot begin with transactions, and what to do; the client's error is the cause."""
    return _no_transaction(f"The transactional producer {transactional_id} could not begin", error)


def not_committed(transactional_id: str, error: KafkaError | None, cause: Exception) -> ConnectError:
    """Say that a transaction failed and why; nothing of it counts."""
    what = f"A transaction of producer {transactional_id} failed and nothing of it counts"
    if error is None:
        return ConnectError(f"{what}: {cause}; restart the task")
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        # The client had seen the topic, else it would not have asked.
        return _deleted(f"{what}: a topic that it writes to was deleted", RetriableError(error.str()))
    return _no_transaction(what, error)


def gone_topic(transactional_id: str, topic: str) -> ConnectError:
    """Say that a transaction waits in vain, since its topic was deleted; nothing of it counts."""
    what = f"A transaction of producer {transactional_id} was given up and nothing of it counts"
    return _deleted(f"{what}: topic {topic} was deleted", RetriableError("the brokers know no such topic"))


def _deleted(what: str, reason: Exception) -> ConnectError:
    """Return a failure that passes: who starts anew may have the topic created, or find it again."""
    failure = ConnectError(f"{what}. {_HOW_TO_CREATE}")
    failure.__cause__ = reason
    return failure


def _no_transaction(what: str, error: KafkaError) -> ConnectError:
    remedy = _TRANSACTION_REMEDIES.get(error.code()) or _REMEDIES.get(error.code())
    failure = ConnectError(f"{what}: {remedy or f'{error.name()}, {error.str()}'}, and restart the task")
    failure.__cause__ = KafkaException(error)
    return failure


def not_written(topic: str | None, error: KafkaError, *, was_there: bool = False) -> ConnectError:
    """Say which topic did not take a record, and what to do; the client's error is the cause.

    A topic that `was_there`, with records of the same client in it, and is not now, may be there again for
    the next start, which may create it. In which way it is missing depends on where its records waited.
    """
    remedy = _REMEDIES.get(error.code(), "the cause says why")
    gone = error.code() == REMOVED_PARTITION or (was_there and remedy in (_MISSING_TOPIC, _DELETED_TOPIC))
    told = _DELETED_TOPIC if gone else remedy
    failure = ConnectError(f"A record could not be written to topic {topic}: {told}, and restart the task")
    failure.__cause__ = cause = KafkaException(error)
    if gone:
        cause.__cause__ = RetriableError("The topic was there before")
    return failure


def remedy_for_reading(error: KafkaError) -> str:
    """Say why a partition cannot be read and what to do."""
    return f"{_READING_REMEDIES.get(error.code(), 'the cause says why')}, and restart the task"
