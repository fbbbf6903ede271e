"""What a mirror asks of a cluster: topics, their configurations, groups and access rights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar, cast

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic
from copycat_connect.errors import ConnectError, RetriableError

T = TypeVar("T")
_ALREADY = (KafkaError.TOPIC_ALREADY_EXISTS, KafkaError.INVALID_PARTITIONS)
_ANY_NAME = cast("str", None)
"""The client takes None for any name, though it declares texts."""
_ANY_TOPIC = AclBindingFilter(
    ResourceType.TOPIC,
    _ANY_NAME,
    ResourcePatternType.ANY,
    _ANY_NAME,
    _ANY_NAME,
    AclOperation.ANY,
    AclPermissionType.ANY,
)


class MirrorCluster:
    """One of the two clusters; every call waits for its answer no longer than `admin.timeout.ms`."""

    def __init__(self, admin: AdminClient, place: str, seconds: float) -> None:
        """Use the client, what texts of errors call the cluster, and how long a call may take."""
        self._admin = admin
        self._place = place
        self._seconds = seconds

    def topics(self) -> dict[str, int]:
        """Return how many partitions each topic has.

        Raises:
            RetriableError: The cluster does not answer.
        """
        try:
            found = self._admin.list_topics(timeout=self._seconds)
        except KafkaException as error:
            raise self._failure("list topics", error) from error
        return {name: len(topic.partitions) for name, topic in found.topics.items() if topic.error is None}

    def create_topic(
        self, name: str, partitions: int, replication: int, config: Mapping[str, str] | None = None
    ) -> bool:
        """Create a topic; False when it is there already.

        Raises:
            ConnectError: It cannot be created; RetriableError where that may pass.
        """
        new = NewTopic(name, partitions, replication, config=dict(config or {}))
        return self._made(self._admin.create_topics([new])[name], f"create topic {name}")

    def grow_topic(self, name: str, partitions: int) -> bool:
        """Give a topic more partitions; False when it has as many already.

        Raises:
            ConnectError: It cannot have them; RetriableError where that may pass.
        """
        asked = self._admin.create_partitions([NewPartitions(name, partitions)])
        return self._made(asked[name], f"add partitions to topic {name}")

    def topic_configs(self, topics: Iterable[str]) -> dict[str, dict[str, ConfigEntry]]:
        """Return the configuration of topics, by topic and property.

        Raises:
            ConnectError: They cannot be described; RetriableError where that may pass.
        """
        resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
        if not resources:
            return {}
        asked = self._admin.describe_configs(resources, request_timeout=self._seconds)
        return {
            resource.name: self._answer(future, f"describe the configuration of topic {resource.name}")
            for resource, future in asked.items()
        }

    def alter_topic_config(
        self, topic: str, values: Mapping[str, str | None], reset: Iterable[str] = ()
    ) -> None:
        """Set properties of a topic, and give others their defaults back.

        Raises:
            ConnectError: They cannot be set; RetriableError where that may pass.
        """
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in values.items()
        ]
        entries += [ConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE) for name in reset]
        if not entries:
            return
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        asked = self._admin.incremental_alter_configs([resource], request_timeout=self._seconds)
        self._answer(asked[resource], f"alter the configuration of topic {topic}")

    def topic_acls(self) -> list[AclBinding] | None:
        """Return the access rights to topics; None where the cluster has no authorizer.

        Raises:
            ConnectError: They cannot be listed; RetriableError where that may pass.
        """
        try:
            return list(self._asked(self._admin.describe_acls(_ANY_TOPIC)))
        except KafkaException as error:
            if error.args[0].code() == KafkaError.SECURITY_DISABLED:
                return None
            raise self._failure("list access rights", error) from error

    def create_acls(self, bindings: Sequence[AclBinding]) -> list[str]:
        """Create access rights; returns what went wrong, for each that could not be created."""
        wrong = []
        for binding, future in (self._admin.create_acls(list(bindings)) if bindings else {}).items():
            try:
                self._answer(future, f"create an access right to topic {binding.name}")
            except ConnectError as error:
                wrong.append(error.message)
        return wrong

    def groups(self) -> list[str]:
        """Return the ids of the consumer groups.

        Raises:
            ConnectError: They cannot be listed; RetriableError where that may pass.
        """
        found = self._answer(self._admin.list_consumer_groups(), "list consumer groups")
        return sorted(group.group_id for group in found.valid)

    def group_offsets(self, group: str) -> dict[tuple[str, int], TopicPartition]:
        """Return the committed offsets of a group, by topic and partition, with their metadata.

        Raises:
            ConnectError: They cannot be listed; RetriableError where that may pass.
        """
        asked = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=self._seconds
        )
        found = self._answer(asked[group], f"list offsets of group {group}")
        return {
            (each.topic, each.partition): each
            for each in found.topic_partitions or []
            if each.error is None and each.offset >= 0
        }

    def group_is_empty(self, group: str) -> bool | None:
        """Tell whether a group is there without members; None when there is no such group.

        Raises:
            ConnectError: It cannot be described; RetriableError where that may pass.
        """
        asked = self._admin.describe_consumer_groups([group], request_timeout=self._seconds)
        try:
            state = self._asked(asked[group]).state
        except KafkaException as error:
            if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
                return None
            raise self._failure(f"describe group {group}", error) from error
        if state == ConsumerGroupState.DEAD:
            return None
        return bool(state == ConsumerGroupState.EMPTY)

    def set_group_offsets(self, group: str, offsets: Sequence[TopicPartition]) -> None:
        """Commit offsets for a group without members.

        Raises:
            ConnectError: They cannot be committed, e.g. the group has members; RetriableError where that
                may pass.
        """
        asked = self._admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, list(offsets))], request_timeout=self._seconds
        )
        what = f"set offsets of group {group}"
        for each in self._answer(asked[group], what).topic_partitions or []:
            if each.error is not None:
                raise self._failure(what, KafkaException(each.error))

    def _made(self, future: Future[Any], what: str) -> bool:
        try:
            self._asked(future)
        except KafkaException as error:
            if error.args[0].code() in _ALREADY:
                return False
            raise self._failure(what, error) from error
        return True

    def _answer(self, future: Future[T], what: str) -> T:
        try:
            return self._asked(future)
        except KafkaException as error:
            raise self._failure(what, error) from error

    def _asked(self, future: Future[T]) -> T:
        try:
            return future.result(self._seconds)
        except TimeoutError as error:
            raise RetriableError(
                f"Cluster {self._place} did not answer within {self._seconds:g} s (admin.timeout.ms)"
            ) from error

    def _failure(self, what: str, error: KafkaException) -> ConnectError:
        reason = error.args[0]
        message = f"Cannot {what} on cluster {self._place}: {reason.str()}"
        passes = reason.retriable() or reason.code() in (
            KafkaError._TRANSPORT,
            KafkaError._TIMED_OUT,
            KafkaError._ALL_BROKERS_DOWN,
            KafkaError.REQUEST_TIMED_OUT,
        )
        return RetriableError(message) if passes else ConnectError(message)
