"""Removing single partitions from a consumer group, which confluent-kafka cannot do (2.16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import kafka
from copycat_connect.errors import UnavailableError
from kafka.admin import KafkaAdminClient
from kafka.errors import GroupIdNotFoundError, GroupSubscribedToTopicError, KafkaError

from copycat_offset.domain.errors import GroupActiveError, GroupError
from copycat_offset.domain.groups import TopicPartition

GROUP_UNKNOWN = 69
#: kafka-python's names for the connection settings librdkafka takes.
SETTINGS = {
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.password": "ssl_password",
}


def forget_positions(client: Mapping[str, str], group: str, partitions: Collection[TopicPartition]) -> None:
    """Remove the positions of some partitions; an unknown group has none. Blocks.

    Raises:
        GroupActiveError: A member of the group reads one of the topics.
        GroupError: The broker refused for another reason.
        UnavailableError: No broker answered.
    """
    wanted = [kafka.TopicPartition(topic, partition) for topic, partition in partitions]
    settings = {SETTINGS[key]: value for key, value in client.items() if key in SETTINGS}
    servers = client["bootstrap.servers"].split(",")
    try:
        admin = KafkaAdminClient(bootstrap_servers=servers, **settings)
        try:
            results = admin.delete_group_offsets(group, wanted)
        finally:
            admin.close()
    except GroupIdNotFoundError:
        return
    except KafkaError as error:
        if getattr(error, "retriable", False):
            raise UnavailableError(f"Kafka did not answer for consumer group {group}: {error}") from error
        raise GroupError(group, str(error)) from error
    for result in results.values():
        _check(group, result)


def _check(group: str, error: type[KafkaError] | None) -> None:
    if error is GroupSubscribedToTopicError:
        raise GroupActiveError(group)
    if error is not None and error.errno not in (0, GROUP_UNKNOWN):
        raise GroupError(group, error.__name__)
