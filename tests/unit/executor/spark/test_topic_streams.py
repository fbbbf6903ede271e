"""What batches of a query read of topics."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from copycat_connect.cluster import TopicPartition
from copycat_executor.spark.topic_streams import Bounds, TopicStream


@dataclass
class Reads:
    """Topics that end at 7 and 40, the second one since a moment ago (`RangeReads`)."""

    def bounds(self, topics: Collection[str]) -> Bounds:
        assert topics == {"a"}

        def look(read: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, tuple[int, int]]:
            assert read == {TopicPartition("a", 0): 5}
            return {TopicPartition("a", 0): (0, 7), TopicPartition("a", 1): (3, 40)}

        return look


def test_a_batch_ends_where_the_topic_does_and_whoever_knows_that_hears_where_it_begins() -> None:
    stream = TopicStream(pickle.dumps(Reads()), {TopicPartition("a", 0): 5}, 1)
    assert stream.latestOffset({"a-0": 5}, None) == {"a-0": 6, "a-1": 3}
