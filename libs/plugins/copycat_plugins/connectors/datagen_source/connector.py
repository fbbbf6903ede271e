"""DatagenSource: deals its streams out to tasks, which make blocks of records and hand them out at a pace."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.data import ConnectValue, SourceBatch
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import (
    ExactlyOnceSupport,
    OffsetEffect,
    OffsetMove,
    PluginKind,
    PluginSpec,
    SourceConnector,
    SourceTask,
)
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.datagen_source.blocks import (
    BLOCK,
    first_of,
    following,
    is_of,
    numbers_of,
    place_of,
)
from copycat_plugins.connectors.datagen_source.fields import Fields
from copycat_plugins.connectors.datagen_source.spec import (
    CLASS_NAME,
    EXAMPLES,
    GUARANTEES,
    KEY_FIELD,
    NEXT,
    STREAM,
    STREAMS,
    SUMMARY,
    TASK_CLASS_NAME,
    DatagenSettings,
)
from copycat_plugins.connectors.pace import RecordPace
from copycat_plugins.version import VERSION

_IDLE_SECONDS = 1.0
Block = tuple[list[ConnectValue], list[ConnectValue] | None]


class DatagenSourceConnector(SourceConnector):
    """Gives each task a share of the streams."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._streams = 0

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        settings = DatagenSettings.parse(config)
        check_key(settings.key_field, Fields.parse(settings.fields))
        self._config, self._streams = dict(config), settings.streams

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Deal the streams out in turn; no more tasks than streams."""
        tasks = min(max_tasks, self._streams)
        return [
            {**self._config, STREAM: ",".join(map(str, range(task, self._streams, tasks)))}
            for task in range(tasks)
        ]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check that the key is one of the fields, where both can be read."""
        found = {value.name: value for value in DatagenSettings.config_def().validate(config)}
        if not any(value.errors for value in found.values()):
            try:
                check_key(found[KEY_FIELD].value, Fields.parse(found["fields"].value))
            except ConfigError as error:
                found[KEY_FIELD].errors.append(str(error))
        return list(found.values())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A record depends on its number alone, and the offset is a number."""
        del config
        return ExactlyOnceSupport.SUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any number of a stream as the one that follows."""
        streams = DatagenSettings.parse(config).streams
        for partition, offset in offsets:
            if offset is not None:
                check_offset(offset, _stream_of(partition, streams), streams)
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the numbers between two offsets of a stream, up to the last number there is."""
        settings = DatagenSettings.parse(config)
        return [_effect(move, settings.streams, settings.max_records) for move in moves]


def check_key(name: str | None, fields: Fields) -> None:
    """Accept a field's name, or none.

    Raises:
        ConfigError: There is no such field.
    """
    if name is not None and fields.schema_of(name) is None:
        known = ", ".join(field.name for field in fields.schema.fields)
        raise ConfigError(
            f"Invalid value {name} for configuration {KEY_FIELD}: it must be one of the fields: {known}",
            key=KEY_FIELD,
        )


def check_offset(offset: SourceOffset, stream: int, streams: int) -> int:
    """Return the number that follows in a stream.

    Raises:
        ConnectError: It is not one of the stream's.
    """
    number = offset.get(NEXT)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ConnectError(
            f'A source offset is the number of the record that follows, such as {{"{NEXT}": 42}}'
        )
    if not is_of(number, stream, streams):
        raise ConnectError(
            f"Record {number} is not of stream {stream} of {streams}: they share numbers in blocks of 2000"
        )
    return number


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
        self._pace = RecordPace(settings.throughput)

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


def _effect(move: OffsetMove, streams: int, end: int | None) -> OffsetEffect | None:
    try:
        stream = _stream_of(move.partition, streams)
        before, after = (
            first_of(stream) if offset is None else check_offset(offset, stream, streams)
            for offset in (move.before, move.after)
        )
    except ConnectError:
        return None
    places = [place_of(number, streams) for number in (before, after)]
    if end is not None:
        last = numbers_of(stream, streams, end)
        places = [min(place, last) for place in places]
    return OffsetEffect(max(places[0] - places[1], 0), max(places[1] - places[0], 0))


def _stream_of(partition: SourcePartition | None, streams: int) -> int:
    given = partition or {}
    stream = given.get(STREAM)
    fits = isinstance(stream, int) and not isinstance(stream, bool) and 0 <= stream < streams
    if not fits or given.keys() != {STREAM, STREAMS} or given[STREAMS] != streams:
        raise ConnectError(
            f'A source partition of this connector is {{"{STREAM}": n, "{STREAMS}": {streams}}}, n from 0 to '
            f"{streams - 1}"
        )
    return int(given[STREAM])


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=SUMMARY,
    config=DatagenSettings.config_def(),
    factory=DatagenSourceConnector,
    task_class_name=TASK_CLASS_NAME,
    task_factory=DatagenSourceTask,
    guarantees=GUARANTEES,
    tested_with="nothing: it makes its records up",
    examples=EXAMPLES,
)
