"""Records of one topic-partition out of a batch, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from typing import TypeVar

from copycat_connect.data import ConnectValue, Schema, SinkBatch, SinkRecord, TopicPartition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """Columns of equal length, in the order of offsets."""

    topics: Sequence[str]
    """Topic of each, which a transformation may have changed."""
    values: Sequence[ConnectValue]
    """The values."""
    schemas: Sequence[Schema | None]
    """Schema of each value."""
    offsets: Sequence[int]
    """Offset of each."""
    timestamps: Sequence[int | None]
    """Kafka's timestamp of each, in ms since 1970."""
    batch: SinkBatch
    """The batch they are out of."""
    places: Sequence[int]
    """Place of each in the batch."""

    def __len__(self) -> int:
        return len(self.values)

    def record(self, place: int) -> SinkRecord:
        """Return one as an object."""
        return self.batch[self.places[place]]

    def at(self, places: slice | Sequence[int]) -> RecordColumns:
        """Return some of them."""
        return RecordColumns(
            taken(self.topics, places),
            taken(self.values, places),
            taken(self.schemas, places),
            taken(self.offsets, places),
            taken(self.timestamps, places),
            self.batch,
            taken(self.places, places),
        )

    def where(self, keep: Sequence[bool]) -> RecordColumns:
        """Return those that are to be kept."""
        return self if all(keep) else self.at(list(compress(range(len(keep)), keep)))


def taken(column: Sequence[T], places: slice | Sequence[int]) -> Sequence[T]:
    """Return some items of a column."""
    if isinstance(places, slice):
        return column[places]
    if len(places) > 1:
        found: Sequence[T] = itemgetter(*places)(column)
        return found
    return [column[place] for place in places]


def by_partition(batch: SinkBatch) -> dict[TopicPartition, RecordColumns]:
    """Divide a batch by where its records were read; it is not empty."""
    read = batch.positions
    whole = RecordColumns(
        batch.topics,
        batch.values,
        batch.value_schemas,
        read.offsets,
        read.timestamps,
        batch,
        range(len(batch)),
    )
    if is_uniform(read.partitions) and is_uniform(read.topics):
        return {TopicPartition(read.topics[0], read.partitions[0]): whole}
    places: dict[tuple[str, int], list[int]] = {}
    for place, partition in enumerate(zip(read.topics, read.partitions, strict=True)):
        places.setdefault(partition, []).append(place)
    return {TopicPartition(*partition): whole.at(found) for partition, found in places.items()}


def is_uniform(column: Sequence[object]) -> bool:
    """Return whether all items of a column, which has some, are equal."""
    return column.count(column[0]) == len(column)
