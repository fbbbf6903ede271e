"""Transactions that a killed Kafka forgot: open in a partition, while no coordinator will ever end them.

A single broker has no leader for its partitions between its restart and the end of its former session. Kafka
4.3.1 takes a partition without a leader for one that was deleted, and drops the markers that would end its
transactions (`TransactionMarkerChannelManager`, "likely deleted already and hence can be skipped"). Whoever
reads committed records waits there for ever. `kafka-transactions.sh abort` is the remedy, and done here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from typing import Final, NamedTuple

from kafka import TopicPartition
from kafka.admin import AbortTransactionSpec, KafkaAdminClient

#: A coordinator that knows of a transaction ends it sooner.
CERTAIN_SECONDS: Final = 3.0
_UNDER_WAY: Final = ("Ongoing", "PrepareCommit", "PrepareAbort")


class Forgotten(NamedTuple):
    """One transaction in one partition."""

    topic: str
    partition: int
    offset: int
    """Its first record, behind which nothing is shown."""
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    def __str__(self) -> str:
        """Return where it is."""
        return f"{self.topic}-{self.partition} at {self.offset}"


def abort_forgotten(bootstrap: str, topics: Iterable[str]) -> list[Forgotten]:
    """Find and abort them; returns what was found."""
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        found = _forgotten(admin, topics)
        time.sleep(CERTAIN_SECONDS)  # one that is just being ended has ended then
        certain = [each for each in _forgotten(admin, topics) if each in found]
        for each in certain:
            place = TopicPartition(each.topic, each.partition)
            admin.abort_transaction(AbortTransactionSpec(place, *each[3:]))
    return certain


def _forgotten(admin: KafkaAdminClient, topics: Iterable[str]) -> list[Forgotten]:
    listed = admin.list_transactions()
    under_way = {each.producer_id for found in listed.values() for each in found if each.state in _UNDER_WAY}
    described = admin.describe_topics(list(topics))
    places = [
        TopicPartition(topic["name"], partition["partition_index"])
        for topic in described
        for partition in topic["partitions"]
    ]
    return [
        Forgotten(
            place.topic,
            place.partition,
            producer.current_transaction_start_offset,
            producer.producer_id,
            producer.producer_epoch,
            producer.coordinator_epoch,
        )
        for place, state in admin.describe_producers(places).items()
        for producer in state.active_producers
        if producer.current_transaction_start_offset >= 0 and producer.producer_id not in under_way
    ]
