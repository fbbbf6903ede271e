"""DatagenSource's task: makes blocks of records and hands them out at a pace."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.data import ConnectValue, SourceBatch
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.datagen_source.blocks import BLOCK, first_of, following
from copycat_plugins.connectors.datagen_source.connector import check_key, check_offset
from copycat_plugins.connectors.datagen_source.fields import Fields
from copycat_plugins.connectors.datagen_source.spec import NEXT, STREAM, STREAMS, DatagenSettings
from copycat_plugins.connectors.pace import Pace

_IDLE_SECONDS = 1.0
Block = tuple[list[ConnectValue], list[ConnectValue] | None]


@dataclass(slots=True)
class Stream:
    """How far a stream is, and the block it is in."""

    number: int
    partition: Mapping[str, int]
    next: int
    made: Block | None = None


class DatagenSourceTask(SourceTask):
    """Gives batches of its streams in turn; a batch never spans two blocks."""

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration, and the numbers to go on from."""
        self._settings = settings = DatagenSettings.parse(config)
        self._fields = Fields.parse(settings.fields)
        check_key(settings.key_field, self._fields)
        self._key_schema = None if settings.key_field is None else self._fields.schema_of(settings.key_field)
        self._streams = deque(map(self._stream, map(int, config[STREAM].split(","))))
        self._pace = Pace(settings.throughput)

    def poll(self) -> SourceBatch | None:
        """Return records of one stream, as many as are due; nothing where all are made."""
        while self._streams and self._left(self._streams[0]) <= 0:
            self._streams.popleft()
        if not self._streams:
            self.context.wait(_IDLE_SECONDS)
            return None
        stream = self._streams[0]
        count = self._pace.take(min(self._settings.batch_size, self._left(stream)), self.context.wait)
        if not count:
            return None
        self._streams.rotate(-1)
        return self._batch(stream, count)

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _stream(self, number: int) -> Stream:
        partition = {STREAM: number, STREAMS: self._settings.streams}
        offset = self.context.offset(partition)
        start = first_of(number) if offset is None else check_offset(offset, number, self._settings.streams)
        return Stream(number, partition, start)

    def _left(self, stream: Stream) -> int:
        """Return how many records there are from the next one to the end of its block, or to the very end."""
        end = stream.next - stream.next % BLOCK + BLOCK
        if self._settings.max_records is not None:
            end = min(end, self._settings.max_records)
        return end - stream.next

    def _batch(self, stream: Stream, count: int) -> SourceBatch:
        first, last = stream.next, stream.next + count - 1
        place, streams = first % BLOCK, self._settings.streams
        values, keys = stream.made = stream.made or self._block(first // BLOCK)
        stream.next = following(last, streams)
        if stream.next // BLOCK != first // BLOCK:
            stream.made = None
        return SourceBatch(
            self._settings.topic,
            values[place : place + count],
            value_schema=self._fields.schema,
            keys=None if keys is None else keys[place : place + count],
            key_schema=self._key_schema,
            source_partition=stream.partition,
            source_offset={NEXT: stream.next},
            offsets=lambda: [{NEXT: following(number, streams)} for number in range(first, last + 1)],
        )

    def _block(self, block: int) -> Block:
        columns = self._fields.columns(self._settings.seed, block)
        keys = None if self._settings.key_field is None else columns[self._settings.key_field]
        return list(self._fields.structs(columns)), keys
