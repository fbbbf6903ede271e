"""DatagenSource: deals its streams out to the tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.datagen_source.blocks import first_of, is_of, numbers_of, place_of
from copycat_plugins.connectors.datagen_source.fields import Fields
from copycat_plugins.connectors.datagen_source.spec import KEY_FIELD, NEXT, STREAM, STREAMS, DatagenSettings


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
