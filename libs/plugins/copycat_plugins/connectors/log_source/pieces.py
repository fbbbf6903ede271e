"""Pieces: what was read of one log at once, as records for the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from copycat_connect.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Header,
    Schema,
    SourceBatch,
    SourceRecord,
    UnreadableRecord,
)
from copycat_connect.errors import ConnectError, DataError

from copycat_plugins.connectors.log_source.cutting import CutRecords
from copycat_plugins.connectors.log_source.place import FILENAME, LinePlace
from copycat_plugins.connectors.log_source.settings import LogSourceSettings


@dataclass(slots=True)
class Piece:
    """Records of one log that follow each other."""

    log: str
    topic: str
    start: int
    place: LinePlace
    """The place after the last record."""
    values: list[ConnectValue]
    lengths: list[int] | None
    schema: Schema = STRING_SCHEMA
    utf8: bool = False
    unreadable: dict[int, Exception] = field(default_factory=dict)
    timestamp: int | None = None
    """When the records were read, in ms since the epoch."""

    @classmethod
    def of(
        cls, log: str, start: int, place: LinePlace, records: CutRecords, settings: LogSourceSettings
    ) -> Piece:
        """Make values of records, as the settings say."""
        topic, now = settings.topic_of(log), int(time.time() * 1000)
        if not settings.encoding and settings.fields is None:
            values: list[ConnectValue] = [*records.values]
            return cls(log, topic, start, place, values, records.lengths, utf8=True, timestamp=now)
        lengths = records.lengths or [len(value) + 1 for value in records.values]
        texts = [value.decode(settings.encoding or "utf-8", "replace") for value in records.values]
        if settings.fields is None:
            return cls(log, topic, start, place, [*texts], lengths, timestamp=now)
        values, wrong = settings.fields.structs(texts)
        schema = settings.fields.schema
        return cls(log, topic, start, place, values, lengths, schema, unreadable={**wrong}, timestamp=now)

    @classmethod
    def damaged(cls, log: str, place: LinePlace, error: ConnectError, settings: LogSourceSettings) -> Piece:
        """Make the one record that stands for what cannot be read from a place on."""
        return cls(log, settings.topic_of(log), place.position, place, [None], [0], unreadable={0: error})

    @property
    def _partition(self) -> dict[str, Any]:
        return {FILENAME: self.log}

    @property
    def size(self) -> int:
        """How many bytes it is about."""
        return self.place.position - self.start

    def batch(self, *, headers: bool) -> SourceBatch | list[SourceRecord]:
        """Return it as columns where nothing asks for single records."""
        if headers or self.unreadable:
            return list(self.records(headers=headers))
        return SourceBatch(
            self.topic,
            self.values,
            value_schema=self.schema,
            source_partition=self._partition,
            source_offset=self.place.offset(),
            utf8=self.utf8,
            offsets=self._offsets,
            timestamp=self.timestamp,
        )

    def records(self, *, headers: bool) -> Iterator[SourceRecord]:
        """Yield one record after the other."""
        starts, partition = [self.start, *self._ends()[:-1]], self._partition
        for place, (value, start, offset) in enumerate(
            zip(self.values, starts, self._offsets(), strict=True)
        ):
            if place in self.unreadable:
                yield self._failed(place, value, start, offset)
                continue
            yield SourceRecord(
                partition,
                offset,
                self.topic,
                value.decode() if self.utf8 else value,
                value_schema=self.schema,
                timestamp=self.timestamp,
                headers=_headers(self.log, start) if headers else (),
            )

    def _failed(
        self, place: int, value: ConnectValue, start: int, offset: Mapping[str, Any]
    ) -> UnreadableRecord:
        cause = self.unreadable[place]
        error = DataError(f"The record at byte {start} of {self.log} cannot be read: {cause}")
        error.__cause__ = cause
        return UnreadableRecord(self._partition, offset, self.topic, value, error, value_schema=STRING_SCHEMA)

    def _ends(self) -> list[int]:
        lengths = self.lengths
        if lengths is None:
            lengths = [len(value) + 1 for value in self.values]
        return list(accumulate(lengths, initial=self.start))[1:]

    def _offsets(self) -> list[dict[str, Any]]:
        ends = self._ends()
        # What is before the position is known of the last one alone.
        shared = replace(self.place, tail="").offset()
        found = [{**shared, "position": end} for end in ends]
        found[-1] = self.place.offset()
        return found


def _headers(log: str, start: int) -> list[Header]:
    return [Header("file.path", log, STRING_SCHEMA), Header("file.offset", start, INT64_SCHEMA)]
