"""Batches: many records of one kind without an object for each.

A hot path reads columns (`values`, `keys`); whatever needs whole records iterates and pays for them then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from copycat_connect.data.records import SinkRecord, SourceRecord
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue

Offset = Mapping[str, ConnectValue]


@dataclass(frozen=True, slots=True, eq=False)
class SourceBatch:
    """Records of one topic and one source partition, in order.

    The batch is a unit: its offset counts once every record of it is durable. A record taken out by iteration
    carries an offset of its own when the task can tell it (`offsets`), else the batch's, which then counts
    only with the last record.
    """

    topic: str
    """Kafka topic of every record."""
    values: list[ConnectValue]
    """The values; with `utf8`, bytes each of which is the valid UTF-8 text of a STRING value."""
    value_schema: Schema | None = None
    """Schema of every value."""
    keys: list[ConnectValue] | None = None
    """The keys, one per value; None when no record has a key."""
    key_schema: Schema | None = None
    """Schema of every key."""
    source_partition: Offset | None = None
    """Names the stream within the system."""
    source_offset: Offset | None = None
    """Where to continue after the last record."""
    utf8: bool = False
    """True when `values` holds encoded text, so that a converter for text need not touch it."""
    offsets: Callable[[], Sequence[Offset]] | None = None
    """Computes where to continue after each record; called only when records are taken one by one."""
    timestamp: int | None = None
    """Milliseconds since the epoch of every record, in Kafka too; None means `read_at`, or now."""
    read_at: int | None = None
    """When the records were read, in milliseconds since the epoch: their timestamp for transformations and
    predicates. Kafka's own timestamp may then be that of handing them to the producer, moments later, which
    is cheaper than to name one for each record."""

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[SourceRecord]:
        offsets = self.offsets() if self.offsets is not None else (self.source_offset,) * len(self.values)
        keys = self.keys if self.keys is not None else (None,) * len(self.values)
        timestamp = self.read_at if self.timestamp is None else self.timestamp
        for value, key, offset in zip(self.values, keys, offsets, strict=True):
            yield SourceRecord(
                self.source_partition,
                offset,
                self.topic,
                value.decode() if self.utf8 else value,
                key=key,
                key_schema=self.key_schema,
                value_schema=self.value_schema,
                timestamp=timestamp,
            )


class SinkBatch(Sequence[SinkRecord]):
    """Records read from Kafka, in order; made by the pipeline, given to `SinkTask.put`.

    `values` is always there. A record object is made when it is asked for, and then kept.
    """

    __slots__ = ("_keys", "_made", "_record_at", "_topics", "_value_schemas", "values")

    def __init__(
        self,
        values: list[ConnectValue],
        record_at: Callable[[int], SinkRecord],
        *,
        keys: list[ConnectValue] | None = None,
        topics: Sequence[str] | None = None,
        value_schemas: Sequence[Schema | None] | None = None,
    ) -> None:
        """Wrap columns.

        Args:
            values: The converted values.
            record_at: Makes the record at an index; called at most once for each.
            keys: The converted keys, when they are at hand.
            topics: The topic of each record, when at hand.
            value_schemas: The schema of each value, when at hand.
        """
        self.values = values
        self._record_at = record_at
        self._keys = keys
        self._topics = topics
        self._value_schemas = value_schemas
        self._made: list[SinkRecord | None] | None = None

    @classmethod
    def of(cls, records: Sequence[SinkRecord]) -> SinkBatch:
        """Wrap records that exist already, e.g. after transformations or in tests."""
        return cls([record.value for record in records], records.__getitem__)

    @property
    def keys(self) -> list[ConnectValue]:
        """The converted keys, one per record."""
        if self._keys is None:
            self._keys = [record.key for record in self]
        return self._keys

    @property
    def topics(self) -> Sequence[str]:
        """The topic of each record."""
        if self._topics is None:
            self._topics = [record.topic for record in self]
        return self._topics

    @property
    def value_schemas(self) -> Sequence[Schema | None]:
        """The schema of each value."""
        if self._value_schemas is None:
            self._value_schemas = [record.value_schema for record in self]
        return self._value_schemas

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> SinkRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SinkRecord]: ...
    def __getitem__(self, index: int | slice) -> SinkRecord | Sequence[SinkRecord]:
        if isinstance(index, slice):
            return [self._at(place) for place in range(*index.indices(len(self.values)))]
        place = index + len(self.values) if index < 0 else index
        if not 0 <= place < len(self.values):
            raise IndexError(index)
        return self._at(place)

    def __iter__(self) -> Iterator[SinkRecord]:
        return map(self._at, range(len(self.values)))

    def _at(self, place: int) -> SinkRecord:
        if self._made is None:
            self._made = [None] * len(self.values)
        record = self._made[place]
        if record is None:
            record = self._made[place] = self._record_at(place)
        return record
