"""Consumer groups on Kafka, changed and read from outside of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar

from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as ClientPartition
from aiokafka.errors import (
    GroupIdNotFound,
    KafkaError,
    NonEmptyGroup,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    for_code,
)
from aiokafka.protocol.api import Request
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.client_overrides import CLIENT_ID, REQUEST_TIMEOUT
from copycat_connect.errors import ConfigError, CopycatError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_eventlog.clients import aiokafka_config, read_security, silence_clients
from copycat_eventlog.uncreating import UncreatingClient, uncreating

from copycat_offset.adapters import group_requests as requests
from copycat_offset.adapters.coordinators import REQUEST_SECONDS, Coordinators
from copycat_offset.domain.errors import GroupActiveError, GroupError, PartitionGoneError
from copycat_offset.domain.moves import Bounds


async def _topic_bounds(
    client: Mapping[str, Any], partitions: Collection[TopicPartition], time: int | None, seconds: float
) -> dict[TopicPartition, Bounds]:
    """Return the bounds of those partitions that exist.

    Args:
        client: An aiokafka client's connection arguments; connections are made for this call only.
        partitions: What is asked about.
        time: Milliseconds since the epoch, for `Bounds.at`; None for none.
        seconds: How long all of it may take.

    Raises:
        UnavailableError: The brokers did not answer in time, or may not be asked.
    """
    arguments = {**client, "request_timeout_ms": int(seconds * 1000)}
    try:
        async with asyncio.timeout(seconds):
            there = await _existing(arguments, partitions)
            return await _bounds(arguments, there, time) if there else {}
    except (KafkaError, TimeoutError) as error:
        reason = str(error) or type(error).__name__
        raise UnavailableError(
            f"Kafka did not say within {seconds:g} s what the topics hold: {reason}"
        ) from error


async def _existing(
    arguments: Mapping[str, Any], partitions: Collection[TopicPartition]
) -> list[TopicPartition]:
    """Return those that exist: aiokafka's consumer would wait for the others for ever."""
    client = UncreatingClient(**arguments)
    try:
        await client.bootstrap()
        known = await client.fetch_all_metadata()
    finally:
        await client.close()
    return [each for each in partitions if each.partition in (known.partitions_for_topic(each.topic) or ())]


async def _bounds(
    arguments: Mapping[str, Any], partitions: Collection[TopicPartition], time: int | None
) -> dict[TopicPartition, Bounds]:
    asked = [ClientPartition(*each) for each in partitions]
    consumer = uncreating(AIOKafkaConsumer(**arguments, enable_auto_commit=False))
    try:
        await consumer.start()
        low = await consumer.beginning_offsets(asked)
        high = await consumer.end_offsets(asked)
        found = {} if time is None else await consumer.offsets_for_times(dict.fromkeys(asked, time))
    finally:
        await consumer.stop()
    return {
        TopicPartition(*each): Bounds(low[each], high[each], found[each].offset if found.get(each) else None)
        for each in asked
    }


T = TypeVar("T")

#: For one operation with all its tries, unless `request.timeout.ms` is given; a caller waits 10.
OPERATION_SECONDS: Final = 8.0
LONGEST_OPERATION_SECONDS: Final = 60.0
RETRIES: Final = RetryPolicy(first=0.05, ceiling=0.5)
#: aiokafka 0.14 has no name for it.
GROUP_SUBSCRIBED_TO_TOPIC: Final = 86
#: A change from outside is refused while consumers are in the group: a commit, a deletion, a removal.
ACTIVE: Final = frozenset({UnknownMemberIdError.errno, NonEmptyGroup.errno, GROUP_SUBSCRIBED_TO_TOPIC})
PARTITION_GONE: Final = UnknownTopicOrPartitionError.errno
GROUP_UNKNOWN: Final = GroupIdNotFound.errno


class KafkaGroups:
    """`ConsumerGroups` on a Kafka cluster; every operation may be repeated, and is while brokers are away."""

    def __init__(self, bootstrap_servers: str, client_config: Mapping[str, str]) -> None:
        """Read a Java client's properties; nothing is sent before the first call.

        Of the properties those of the login, `client.id` and `request.timeout.ms` count.

        Raises:
            ConfigError: One cannot be followed; the text names it.
        """
        silence_clients()
        client = aiokafka_config(bootstrap_servers, read_security(client_config))
        if CLIENT_ID in client_config:
            client["client_id"] = client_config[CLIENT_ID]
        self._seconds = operation_seconds(client_config)
        self._client = client
        self._coordinators = Coordinators(client, min(REQUEST_SECONDS, self._seconds))

    async def positions(self, group: str) -> Mapping[TopicPartition, int]:
        """Return the committed positions."""

        def read(response: Any) -> Mapping[TopicPartition, int]:
            positions, codes = requests.fetched_positions(response)
            _check(group, codes)
            return positions

        return await self._call(group, requests.fetch_request(group), read)

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit positions."""
        await self._call(
            group,
            requests.commit_request(group, offsets),
            lambda response: _check(group, requests.commit_errors(response)),
        )

    async def forget(self, group: str, partitions: Collection[TopicPartition]) -> None:
        """Remove the positions of some partitions."""
        await self._call(
            group,
            requests.forget_request(group, partitions),
            lambda response: _check(group, requests.forget_errors(response), fine=GROUP_UNKNOWN),
        )

    async def delete(self, group: str) -> None:
        """Remove the group."""
        await self._call(
            group,
            requests.delete_request(group),
            lambda response: _check(group, requests.delete_errors(response), fine=GROUP_UNKNOWN),
        )

    async def bounds(
        self, partitions: Collection[TopicPartition], time: int | None
    ) -> Mapping[TopicPartition, Bounds]:
        """Return what partitions hold; connections are made for this call only."""
        return await _topic_bounds(self._client, partitions, time, self._seconds)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._coordinators.close()

    async def _call(self, group: str, request: Request[Any], read: Callable[[Any], T]) -> T:
        """Send a request, again and again while brokers are away or the group's coordinator moves."""
        waits, reason = RETRIES.waits(), "no broker can be reached"
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    try:
                        return read(await self._coordinators.send(group, request))
                    except KafkaError as error:
                        if not error.retriable:
                            raise GroupError(group, str(error)) from error
                        reason = str(error) or type(error).__name__
                    await asyncio.sleep(next(waits))
        except TimeoutError:
            raise UnavailableError(
                f"Kafka did not answer for consumer group {group} within {self._seconds:g} s: {reason}"
            ) from None


def operation_seconds(client: Mapping[str, str]) -> float:
    """Return how long one operation may take with all its tries, by `request.timeout.ms` if a client has it.

    Raises:
        ConfigError: It is no number.
    """
    given = client.get(REQUEST_TIMEOUT)
    if given is None:
        return OPERATION_SECONDS
    if not given.isdecimal() or int(given) == 0:
        raise ConfigError(
            f"Invalid value {given} for configuration {REQUEST_TIMEOUT}: use a number of milliseconds",
            key=REQUEST_TIMEOUT,
        )
    return min(int(given) / 1000, LONGEST_OPERATION_SECONDS)


def _check(group: str, codes: Collection[int], fine: int = 0) -> None:
    """Raise what error codes mean, the gravest first; nothing is raised by Kafka for single partitions.

    Raises:
        KafkaError: One that passes: the request is to be sent again.
        CopycatError: One that does not.
    """
    found = sorted({code for code in codes if code != fine}, key=lambda code: code == PARTITION_GONE)
    for code in found:
        if code != PARTITION_GONE and for_code(code).retriable:
            raise for_code(code)
    if found:
        raise _refusal(group, found[0])


def _refusal(group: str, code: int) -> CopycatError:
    if code in ACTIVE:
        return GroupActiveError(group)
    problem = for_code(code)
    reason = f"{problem.message} (code {code}): {problem.description}"
    return PartitionGoneError(group, reason) if code == PARTITION_GONE else GroupError(group, reason)
