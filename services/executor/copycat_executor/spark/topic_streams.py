"""Topics as a source of Structured Streaming: its offsets are those of their partitions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from copycat_connect.cluster import TopicPartition
from copycat_connect.plugin import RecordRange
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

_FORMAT: Final = "copycat_topics"
Bounds = Callable[[Mapping[TopicPartition, int]], Mapping[TopicPartition, tuple[int, int]]]
"""Says where partitions begin and end, given up to where they were read (`TopicRows.bounds`)."""


class RangeReads(Protocol):
    """Reads topics in processes of Spark, to which it travels by pickle (`TopicReads`)."""

    def rows(self, ranges: Sequence[RecordRange]) -> Iterator[Any]:
        """Yield the rows of ranges as Arrow's record batches."""

    def bounds(self, topics: Collection[str]) -> Bounds:
        """Return what says where the partitions of topics begin and end."""


def topic_stream(
    session: SparkSession,
    reads: RangeReads,
    begin: Mapping[TopicPartition, int],
    columns: StructType,
    most: int,
) -> DataFrame:
    """Return what is read of topics as a streaming DataFrame.

    A batch has so many records of a partition (`most`) at most.
    """
    # What only looks at the source need not load what reads topics.
    written = pickle.dumps(reads)

    class Topics(DataSource):
        @classmethod
        def name(cls) -> str:
            return _FORMAT

        def schema(self) -> StructType:
            return columns

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            del schema
            return TopicStream(written, dict(begin), most)

    session.dataSource.register(Topics)
    return session.readStream.format(_FORMAT).load()


class TopicStream(DataSourceStreamReader):
    """Plans batches in a process of Spark for that, and reads their ranges in others."""

    def __init__(self, reads: bytes, begin: Mapping[TopicPartition, int], most: int) -> None:
        """Read topics with what `RangeReads` is, pickled."""
        self._reads, self._begin, self._most = reads, begin, most
        self._bounds: Bounds | None = None

    def initialOffset(self) -> dict[str, int]:
        """Return where a new query begins."""
        return {name_of(partition): offset for partition, offset in self._begin.items()}

    def latestOffset(self, start: dict[str, int], limit: object) -> dict[str, int]:
        """Return where the next batch ends. A new partition gets its beginning first, and records later.

        Raises:
            OffsetLostError: A topic was deleted and made anew.
            RetriableError: Kafka cannot be reached now.
        """
        del limit
        if self._bounds is None:
            self._bounds = self._loaded().bounds({partition.topic for partition in self._begin})
        end = dict(start)
        read = {partition_of(name): offset for name, offset in start.items()}
        for partition, (low, high) in self._bounds(read).items():
            name = name_of(partition)
            end[name] = low if name not in start else min(high, start[name] + self._most)
        return end

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Return the ranges between two offsets, each read by a partition of Spark."""
        return [
            InputPartition(RecordRange(partition_of(name), start[name], behind))
            for name, behind in end.items()
            if behind > start.get(name, behind)
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read a range."""
        yield from self._loaded().rows([partition.value])

    def _loaded(self) -> RangeReads:
        reads: RangeReads = pickle.loads(self._reads)  # noqa: S301 - our own process has written it
        return reads


def name_of(partition: TopicPartition) -> str:
    """Return how offsets name a partition."""
    return f"{partition.topic}-{partition.partition}"


def partition_of(name: str) -> TopicPartition:
    """Return the partition that offsets name so."""
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))
