"""Ranges of records as partitions of Spark read them: whole, with what transactions leave in a topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka import Producer
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import OffsetLostError
from copycat_connect.plugin import RecordRange
from copycat_executor.kafka.client_config import ClientConfig, consumer_config
from copycat_executor.kafka.range_receivers import RangePlanner, RangeReceiver, TopicBounds
from copycat_testkit.kafka import create_topic, idempotent_producer, unique


@pytest.fixture
def place(kafka: str) -> TopicPartition:
    """Give a partition with 20 committed records, and 10 of an aborted and of an open transaction each."""
    topic = unique("ranges")
    create_topic(kafka, topic)
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions(30)
    for first, is_good in ((0, True), (100, False), (10, True), (200, None)):
        producer.begin_transaction()
        for number in range(first, first + 10):
            producer.produce(topic, b"%d" % number)
        if is_good:
            producer.commit_transaction(30)
        elif is_good is False:
            assert producer.flush(30) == 0
            producer.abort_transaction(30)
    assert producer.flush(30) == 0
    return TopicPartition(topic, 0)


def config(kafka: str) -> ClientConfig:
    return consumer_config({"bootstrap.servers": kafka}, {}, "ranges", "ranges", committed_only=True)


def values(kafka: str, shares: Sequence[Sequence[RecordRange]]) -> Iterator[int]:
    receiver = RangeReceiver(config(kafka), lambda: None, None)
    try:
        for share in shares:
            for messages in receiver.messages(share, 3):
                yield from (int(message.value() or b"") for message in messages)
    finally:
        receiver.close()


@pytest.mark.parametrize("most", [1, 2, 11, 100])
def test_ranges_have_each_committed_record_once_and_end_where_there_are_none(
    kafka: str, place: TopicPartition, most: int
) -> None:
    planner = RangePlanner(config(kafka), lambda: None, None)
    try:
        assert planner.assign({place: None}) == {place: 0}
        shares = planner.shares(most, 1000)
        assert [end for share in shares for _, _, end in map(_ends, share)][-1] == 33, "before what is open"
        assert planner.lag() == 33
        assert list(values(kafka, shares)) == [*range(20)]
        planner.done(each for share in shares for each in share)
        assert planner.shares(most, 1000) == []
        assert (planner.positions(), planner.lag()) == ({place: 33}, 0)
    finally:
        planner.close()


def test_a_share_has_ranges_of_several_partitions_and_no_more_than_these(kafka: str) -> None:
    topic = unique("ranges")
    create_topic(kafka, topic, partitions=4)
    producer = idempotent_producer(kafka)  # another may change their order
    for number in range(4000):
        producer.produce(topic, b"%d" % number, partition=number % 4)
    assert producer.flush(30) == 0
    ranges = [RecordRange(TopicPartition(topic, each), each * 100, each * 200) for each in range(4)]
    found = list(values(kafka, [ranges]))
    wanted = [offset * 4 + each for each in range(4) for offset in range(each * 100, each * 200)]
    assert sorted(found) == sorted(wanted)


def _ends(each: RecordRange) -> tuple[TopicPartition, int, int]:
    return each.partition, each.begin, each.end


class AtOnce(RangeReceiver):
    """Gets the end of a partition together with the records before it."""

    def read(self, most: int, seconds: float) -> list[Any]:
        found: list[Any] = []
        while not any(message.error() for message in found):
            found += self._consumer.consume(most, seconds)
        return self._without_errors(found)


def test_a_range_ends_behind_the_marker_of_a_transaction_that_comes_with_its_records(
    kafka: str, place: TopicPartition
) -> None:
    receiver = AtOnce(config(kafka), lambda: None, None)
    try:
        found = [*receiver.messages([RecordRange(place, 0, 33)], 1000)]
        assert [int(message.value() or b"") for messages in found for message in messages] == [*range(20)]
    finally:
        receiver.close()


def test_bounds_are_those_of_committed_records_and_a_missing_topic_has_none(
    kafka: str, place: TopicPartition
) -> None:
    topics = TopicBounds(config(kafka), lambda: None, None)
    missing = unique("missing")
    try:
        assert topics.bounds([place.topic, missing], {}) == {place: (0, 33)}
        create_topic(kafka, missing)
        both = {place: (0, 33), TopicPartition(missing, 0): (0, 0)}
        assert topics.bounds([place.topic, missing], {place: 33}) == both
        with pytest.raises(OffsetLostError, match="ends at 33, and was read up to 34: the topic was deleted"):
            topics.bounds([place.topic], {place: 34})
    finally:
        topics.close()
