"""Removing single partitions from a consumer group, which confluent-kafka cannot do (2.16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing

import kafka
from copycat_connect.errors import UnavailableError
from kafka.admin import KafkaAdminClient
from kafka.errors import GroupIdNotFoundError, GroupSubscribedToTopicError, KafkaError, NoError

from copycat_offset.domain.errors import GroupActiveError, GroupError
from copycat_offset.domain.groups import TopicPartition

TIMEOUT_MS = 8000


def forget_positions(
    client: Mapping[str, object], group: str, partitions: Collection[TopicPartition]
) -> None:
    """Remove the positions of some partitions; an unknown group has none. Blocks.

    Connects for each call: there are few. `client` is the connection part of the client's arguments.

    Raises:
        GroupActiveError: A member of the group reads one of the topics.
        GroupError: The broker refused for another reason.
        UnavailableError: No broker answered.
    """
    wanted = [kafka.TopicPartition(topic, partition) for topic, partition in partitions]
    patience = {"request_timeout_ms": TIMEOUT_MS, "bootstrap_timeout_ms": TIMEOUT_MS}
    try:
        with closing(KafkaAdminClient(**client, **patience)) as admin:
            results = admin.delete_group_offsets(group, wanted)
    except GroupIdNotFoundError:
        return
    except KafkaError as error:
        if error.retriable:
            raise UnavailableError(f"Kafka did not answer for consumer group {group}: {error}") from error
        raise GroupError(group, str(error)) from error
    for result in results.values():
        _check(group, result)


def _check(group: str, error: type[KafkaError] | None) -> None:
    if error is GroupSubscribedToTopicError:
        raise GroupActiveError(group)
    if error is not None and error not in (NoError, GroupIdNotFoundError):
        raise GroupError(group, error.__name__)
