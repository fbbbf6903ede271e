"""Removing single partitions from a consumer group, which confluent-kafka cannot do (2.16)."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from typing import Any

import kafka
from copycat_connect.errors import UnavailableError
from copycat_eventlog.clients import Security, aiokafka_config
from kafka.admin import KafkaAdminClient
from kafka.errors import GroupIdNotFoundError, GroupSubscribedToTopicError, KafkaError

from copycat_offset.domain.errors import GroupActiveError, GroupError
from copycat_offset.domain.groups import TopicPartition

GROUP_UNKNOWN = 69


class Forgetting:
    """Removes positions with kafka-python's admin client, connected for each call: they are rare."""

    def __init__(self, bootstrap_servers: str, security: Security) -> None:
        """Take the brokers; nothing is sent."""
        # kafka-python and its asynchronous offspring name their arguments alike.
        self._settings: dict[str, Any] = aiokafka_config(bootstrap_servers, security)

    def positions(self, group: str, partitions: Collection[TopicPartition]) -> None:
        """Remove the positions of some partitions; an unknown group has none. Blocks.

        Raises:
            GroupActiveError: A member of the group reads one of the topics.
            GroupError: The broker refused for another reason.
            UnavailableError: No broker answered.
        """
        wanted = [kafka.TopicPartition(topic, partition) for topic, partition in partitions]
        try:
            with closing(KafkaAdminClient(**self._settings)) as admin:
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
    if error is not None and error.errno not in (0, GROUP_UNKNOWN):
        raise GroupError(group, error.__name__)
