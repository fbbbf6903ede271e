"""The electorate: what the brokers know of the instances that may own a log."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupIdNotFound,
    KafkaError,
    TopicAlreadyExistsError,
    for_code,
)
from copycat_connect.errors import UnavailableError

from copycat_eventlog.uncreating import uncreating

ANSWER_TIMEOUT_MS = 5000


@dataclass(frozen=True, slots=True)
class Electorate:
    """The members of the group that elects, as its coordinator sees them."""

    members: frozenset[str]
    """Their client ids."""
    owner: str | None
    """Client id of the member that holds the leadership; None while that is being decided."""


async def read_electorate(client: Mapping[str, Any], group: str, topic: str) -> Electorate:
    """Ask the coordinator; its answer is true where an instance's own view may be stale.

    librdkafka is not asked: while brokers are away its admin requests leak threads, and one in the end
    aborted the process (2.16.0, assertion in rd_kafka_enq_once_del_source_return).

    Raises:
        UnavailableError: It did not answer.
    """
    admin = uncreating(AIOKafkaAdminClient(**client, request_timeout_ms=ANSWER_TIMEOUT_MS))
    try:
        await admin.start()
        (response,) = await admin.describe_consumer_groups([group])
        (error, _, state, _, _, members, *_) = response.groups[0]
        problem = for_code(error)
        if error and problem is not GroupIdNotFound:
            raise problem(group)
    except KafkaError as error:
        raise UnavailableError(f"The owner of {topic} cannot be asked for: {error}") from None
    finally:
        await admin.close()
    owner = None
    for _, client_id, _, _, assignment, *_ in members:
        if state == "Stable" and assignment and topic in _topics(assignment):
            owner = client_id
    return Electorate(frozenset(member[1] for member in members), owner)


async def wake_coordinators(client: Mapping[str, Any], group: str, transactional_id: str) -> None:
    """Make new brokers set up their coordinators, which takes a second, before they are needed."""
    admin = uncreating(AIOKafkaAdminClient(**client, request_timeout_ms=ANSWER_TIMEOUT_MS))
    try:
        await admin.start()
        for name, kind in ((group, 0), (transactional_id, 1)):
            with suppress(GroupCoordinatorNotAvailableError):
                await admin.find_coordinator(name, kind)
    except KafkaError:
        return  # whoever needs them reports it
    finally:
        await admin.close()


async def make_topic(client: Mapping[str, Any], topic: str, replication_factor: int) -> None:
    """Make a topic of one partition; one that is there already is fine.

    Raises:
        UnavailableError: The brokers did not answer, or refuse.
    """
    admin = uncreating(AIOKafkaAdminClient(**client, request_timeout_ms=ANSWER_TIMEOUT_MS))
    try:
        await admin.start()
        answer = await admin.create_topics([NewTopic(topic, 1, replication_factor)])
    except KafkaError as error:
        raise UnavailableError(f"Topic {topic} cannot be made: {error}") from None
    finally:
        await admin.close()
    (_, code, *_) = answer.topic_errors[0]
    if code and for_code(code) is not TopicAlreadyExistsError:
        raise UnavailableError(f"Topic {topic} cannot be made: {for_code(code).__name__}")


def _topics(assignment: bytes) -> set[str]:
    decoded = ConsumerProtocolMemberAssignment.decode(assignment)
    return {topic for topic, partitions in decoded.assignment if partitions}  # Faust names it to all members
