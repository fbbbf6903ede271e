"""Batches: many records of one kind without an object for each.

A hot path reads columns (`values`, `keys`); whatever needs whole records iterates and pays for them then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from copycat_connect.data.headers import Header
from copycat_connect.data.records import SinkRecord, SourceRecord
from copycat_connect.data.schema import OPTIONAL_BYTES_SCHEMA, ConnectValue, Schema

Offset = Mapping[str, ConnectValue]
RawHeaders = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True, eq=False)
class SourceBatch:
    """Records of one topic and one source partition, in order.

    The batch is a unit: its offset counts once every record of it is durable. A record taken out by iteration
    carries an offset of its own when the task knows it (`offsets`), else the batch's, which then counts
    only with the last record.
    """

    topic: str
    """Kafka topic of every record."""
    values: Sequence[ConnectValue]
    """The values, a list or `StructColumns`; with `utf8`, bytes each of which is the valid UTF-8 text of a
    STRING value."""
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
    kafka_partition: int | None = None
    """Kafka partition of every record; None lets the producer choose by key."""
    timestamps: Sequence[int | None] | None = None
    """Milliseconds since the epoch of each record, in Kafka too, one per value; None means `timestamp`."""
    headers: Sequence[RawHeaders] | None = None
    """Headers of each record with bytes as values, one list per value; None when no record has any."""
    watched: Mapping[int, object] | None = None
    """Records whose place in Kafka the task wants to know, by their index in `values`, each with what
    `SourceTask.commit_watched` is to be called with."""
    timestamp: int | None = None
    """Milliseconds since the epoch of every record, for transformations and in Kafka, e.g. when they were
    read; None means now."""

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[SourceRecord]:
        offsets = self.offsets() if self.offsets is not None else (self.source_offset,) * len(self.values)
        keys = self.keys if self.keys is not None else (None,) * len(self.values)
        timestamps = self.timestamps if self.timestamps is not None else (self.timestamp,) * len(self.values)
        headers = self.headers if self.headers is not None else ((),) * len(self.values)
        for value, key, offset, at, raw in zip(self.values, keys, offsets, timestamps, headers, strict=True):
            yield SourceRecord(
                self.source_partition,
                offset,
                self.topic,
                value.decode() if self.utf8 else value,
                key=key,
                key_schema=self.key_schema,
                value_schema=self.value_schema,
                kafka_partition=self.kafka_partition,
                timestamp=at,
                headers=tuple(Header(name, data, OPTIONAL_BYTES_SCHEMA) for name, data in raw),
            )


@dataclass(frozen=True, slots=True)
class SinkPositions:
    """Where records were read in Kafka, column by column, whatever transformations made of them."""

    topics: Sequence[str]
    """Topic of each."""
    partitions: Sequence[int]
    """Partition of each."""
    offsets: Sequence[int]
    """Offset of each."""
    timestamps: Sequence[int | None]
    """Timestamp of each as the record has it, in ms since the epoch."""


class SinkBatch(Sequence[SinkRecord]):
    """Records read from Kafka, in order; made by the pipeline, given to `SinkTask.put`.

    `values` is always there. A record object is made when it is asked for, and then kept; so are values that
    `column` holds no objects of.
    """

    __slots__ = (
        "_find_positions",
        "_key_schemas",
        "_keys",
        "_made",
        "_positions",
        "_record_at",
        "_topics",
        "_value_schemas",
        "_values",
        "column",
    )

    column: Sequence[ConnectValue]
    """The values as converter and transformations left them: a list, `MapColumns` or `Texts`. For sinks that
    write columns as they are."""

    def __init__(
        self,
        values: Sequence[ConnectValue],
        record_at: Callable[[int], SinkRecord],
        *,
        keys: Sequence[ConnectValue] | None = None,
        topics: Sequence[str] | None = None,
        value_schemas: Sequence[Schema | None] | None = None,
        key_schemas: Sequence[Schema | None] | None = None,
        positions: Callable[[], SinkPositions] | None = None,
    ) -> None:
        """Wrap columns.

        Args:
            values: The converted values, as `column` says.
            record_at: Makes the record at an index; called at most once for each.
            keys: The converted keys, when they are at hand.
            topics: The topic of each record, when at hand.
            value_schemas: The schema of each value, when at hand.
            key_schemas: The schema of each key, when at hand.
            positions: Returns where the records were read, without making them; called at most once.
        """
        self.column = values
        self._values: list[ConnectValue] | None = None
        self._record_at = record_at
        self._keys = keys
        self._topics = topics
        self._value_schemas = value_schemas
        self._key_schemas = key_schemas
        self._find_positions = positions
        self._positions: SinkPositions | None = None
        self._made: list[SinkRecord | None] | None = None

    @classmethod
    def of(cls, records: Sequence[SinkRecord]) -> SinkBatch:
        """Wrap records that exist already, e.g. after transformations or in tests."""
        return cls([record.value for record in records], records.__getitem__)

    @property
    def values(self) -> list[ConnectValue]:
        """The converted values, one per record."""
        if self._values is None:
            self._values = self.column if isinstance(self.column, list) else [*self.column]
        return self._values

    @property
    def keys(self) -> list[ConnectValue]:
        """The converted keys, one per record."""
        if not isinstance(self._keys, list):
            self._keys = [record.key for record in self] if self._keys is None else [*self._keys]
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

    @property
    def key_schemas(self) -> Sequence[Schema | None]:
        """The schema of each key."""
        if self._key_schemas is None:
            self._key_schemas = [record.key_schema for record in self]
        return self._key_schemas

    @property
    def positions(self) -> SinkPositions:
        """Where the records were read."""
        if self._positions is None:
            find = self._find_positions
            self._positions = self._positions_of_records() if find is None else find()
        return self._positions

    def _positions_of_records(self) -> SinkPositions:
        records = list(self)
        return SinkPositions(
            [record.original_topic for record in records],
            [record.original_partition for record in records],
            [record.original_offset for record in records],
            [record.timestamp for record in records],
        )

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, index: int) -> SinkRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SinkRecord]: ...
    def __getitem__(self, index: int | slice) -> SinkRecord | Sequence[SinkRecord]:
        if isinstance(index, slice):
            return [self._at(place) for place in range(*index.indices(len(self.column)))]
        place = index + len(self.column) if index < 0 else index
        if not 0 <= place < len(self.column):
            raise IndexError(index)
        return self._at(place)

    def __iter__(self) -> Iterator[SinkRecord]:
        return map(self._at, range(len(self.column)))

    def _at(self, place: int) -> SinkRecord:
        if self._made is None:
            self._made = [None] * len(self.column)
        record = self._made[place]
        if record is None:
            record = self._made[place] = self._record_at(place)
        return record
