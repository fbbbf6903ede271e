"""Consumer groups through Kafka's admin clients, in threads so that the event loop never waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import confluent_kafka
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from copycat_connect.errors import CopycatError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.clients import aiokafka_config, librdkafka_config, read_security

from copycat_offset.domain.errors import GroupActiveError, GroupError, PartitionGoneError
from copycat_offset.domain.groups import TopicPartition

T = TypeVar("T")

#: Seconds for one operation; a caller waits 10.
TIMEOUT = 8.0
GROUP_UNKNOWN = 69
#: The group's coordinator is being moved or has just started: it answers in a moment.
MOVING = frozenset(
    {
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
    }
)
AGAIN = RetryPolicy(first=0.05, ceiling=0.5, give_up_after=TIMEOUT / 2)
#: A change from outside is refused while consumers are in the group: a commit with 25, a deletion with 68.
ACTIVE = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.NON_EMPTY_GROUP})


class KafkaGroups:
    """`ConsumerGroups` on a Kafka cluster."""

    def __init__(self, bootstrap_servers: str, client_config: Mapping[str, str]) -> None:
        """Take the brokers and a Java client's properties; nothing is sent before the first call."""
        self._bootstrap_servers = bootstrap_servers
        self._security = security = read_security(client_config)
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="groups")
        # Kept for the life of the service: futures of a client that was let go never resolve.
        self._admin = AdminClient({**librdkafka_config(bootstrap_servers, security)})

    async def positions(self, group: str) -> Mapping[TopicPartition, int]:
        """Return the committed positions."""
        asked = [ConsumerGroupTopicPartitions(group)]
        found = await self._call(
            group, lambda: _only(self._admin.list_consumer_group_offsets(asked, request_timeout=TIMEOUT))
        )
        return {
            TopicPartition(each.topic, each.partition): each.offset
            for each in found.topic_partitions
            if each.offset >= 0
        }

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit positions."""
        wanted = [confluent_kafka.TopicPartition(*key, offset) for key, offset in offsets.items()]
        asked = [ConsumerGroupTopicPartitions(group, wanted)]
        await self._call(group, lambda: self._commit(asked))

    async def forget(self, group: str, partitions: Collection[TopicPartition]) -> None:
        """Remove the positions of some partitions."""
        await self._call(group, lambda: self._forget(group, partitions))

    async def delete(self, group: str) -> None:
        """Remove the group."""
        await self._call(group, lambda: self._delete(group))

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _commit(self, asked: list[ConsumerGroupTopicPartitions]) -> None:
        done = _only(self._admin.alter_consumer_group_offsets(asked, request_timeout=TIMEOUT))
        # Nothing is raised for single partitions: each has to be looked at, and the others are committed.
        errors = [each.error for each in done.topic_partitions if each.error is not None]
        if errors:
            graver = (error for error in errors if error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART)
            raise KafkaException(next(graver, errors[0]))

    def _forget(self, group: str, partitions: Collection[TopicPartition]) -> None:
        from copycat_offset.adapters.forgetting import (  # noqa: PLC0415 - 0.5 s and 22 MB, and rarely needed
            forget_positions,
        )

        forget_positions(aiokafka_config(self._bootstrap_servers, self._security), group, partitions)

    def _delete(self, group: str) -> None:
        try:
            _only(self._admin.delete_consumer_groups([group], request_timeout=TIMEOUT))
        except KafkaException as failure:
            if failure.args[0].code() != GROUP_UNKNOWN:
                raise

    async def _call(self, group: str, work: Callable[[], T]) -> T:
        """Do work in a thread; every operation here may be repeated."""
        waits = AGAIN.waits()
        while True:
            try:
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
            except KafkaException as failure:
                wait = next(waits, None) if failure.args[0].code() in MOVING else None
                if wait is None:
                    raise _refusal(group, failure.args[0]) from failure
            except TimeoutError as failure:
                raise UnavailableError(
                    f"Kafka did not answer for consumer group {group} in time"
                ) from failure
            await asyncio.sleep(wait)


def _only(futures: Mapping[str, Future[Any]]) -> Any:
    (future,) = futures.values()
    return future.result(TIMEOUT + 1)


def _refusal(group: str, error: KafkaError) -> CopycatError:
    if error.code() in ACTIVE:
        return GroupActiveError(group)
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return PartitionGoneError(group, error.str())
    if (
        error.retriable() or error.code() in MOVING or error.code() < 0
    ):  # negative codes are librdkafka's own: no broker answered
        return UnavailableError(f"Kafka did not answer for consumer group {group}: {error.str()}")
    return GroupError(group, error.str())
