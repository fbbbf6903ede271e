"""The electorate: what the brokers know of the instances that may own a log."""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import ConsumerGroupState, KafkaException
from copycat_connect.errors import UnavailableError

from copycat_eventlog.brokers import Brokers


@dataclass(frozen=True, slots=True)
class Electorate:
    """The members of the group that elects, as its coordinator sees them."""

    members: frozenset[str]
    """Their client ids."""
    owner: str | None
    """Client id of the member that holds the leadership; None while that is being decided."""


def read_electorate(brokers: Brokers, group: str, topic: str) -> Electorate:
    """Ask the coordinator; its answer is true where an instance's own view may be stale.

    Raises:
        UnavailableError: It did not answer.
    """
    try:
        described = brokers.ask(brokers.client.describe_consumer_groups([group])[group])
    except KafkaException as refusal:
        message = f"The owner of {topic} cannot be asked for: {refusal.args[0].str()}"
        raise UnavailableError(message) from None
    owner = None
    if described.state == ConsumerGroupState.STABLE:
        for member in described.members:
            if any(held.topic == topic for held in member.assignment.topic_partitions):
                owner = member.client_id
    return Electorate(frozenset(member.client_id for member in described.members), owner)
