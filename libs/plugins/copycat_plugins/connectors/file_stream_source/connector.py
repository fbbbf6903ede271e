"""FileStreamSource: always one task, since a file is read from one end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.file_stream_source.spec import CONFIG, FILE, FILENAME, POSITION
from copycat_plugins.connectors.line_effects import effect_of


class FileStreamSourceConnector(SourceConnector):
    """Hands the whole file to one task."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        CONFIG.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one configuration, whatever the limit."""
        del max_tasks
        return [self._config]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A file can be read again from an offset; the standard input cannot."""
        return ExactlyOnceSupport.SUPPORTED if config.get(FILE) else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any file's name with a position from 0 up."""
        if not config.get(FILE):
            raise ConnectError(
                "Offsets cannot be modified if the 'file' configuration is unspecified. "
                "This is because stdin is used for input and offsets are not tracked."
            )
        for partition, offset in offsets:
            if offset is None:
                # Whatever is forgotten, the next start is well defined.
                continue
            _check_offset(offset)
            _check_partition(partition)
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the lines between two positions, where the file is on this machine."""
        return [_effect(config.get(FILE), move) for move in moves]


def _effect(file: str | None, move: OffsetMove) -> OffsetEffect | None:
    if not file or move.partition.get(FILENAME) != file:
        return OffsetEffect(0, 0, "lines")  # no task reads it
    before, after = (0 if offset is None else offset.get(POSITION) for offset in (move.before, move.after))
    if not (_is_position(before) and _is_position(after)):
        return None
    return effect_of(file, before, after)


def _is_position(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_offset(offset: SourceOffset) -> None:
    if POSITION not in offset:
        raise ConnectError("Offset objects should either be null or contain the key 'position'")
    position = offset[POSITION]
    if isinstance(position, bool) or not isinstance(position, int):
        raise ConnectError("The value for the 'position' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError("The value for the 'position' key in the offset should be a non-negative value")


def _check_partition(partition: SourcePartition | None) -> None:
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    if FILENAME not in partition:
        raise ConnectError("Partition objects should contain the key 'filename'")
