"""LogSource: gives each task a share of the logs, whatever logs there will be."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import (
    ExactlyOnceSupport,
    OffsetEffect,
    OffsetMove,
    PluginKind,
    PluginSpec,
    SourceConnector,
)
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.lines import effect_of
from copycat_plugins.connectors.log_source.choice import DirectoryListing, FileChoice
from copycat_plugins.connectors.log_source.family import LogFile, files_of, find, place_at_start
from copycat_plugins.connectors.log_source.place import LinePlace, check_partition
from copycat_plugins.connectors.log_source.settings import (
    CLASS_NAME,
    EXAMPLES,
    GUARANTEES,
    SHARE,
    SUMMARY,
    TASK_CLASS_NAME,
    LogSourceSettings,
)
from copycat_plugins.connectors.log_source.task import LogSourceTask
from copycat_plugins.version import VERSION

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LogSourceConnector(SourceConnector):
    """Divides logs by a hash of their paths, so that files that come and go change no task."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._most: int | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        self._most = FileChoice(LogSourceSettings.parse(config)).most
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many shares as there may be tasks, or logs where these are all named."""
        tasks = max_tasks if self._most is None else min(max_tasks, self._most)
        return [{**self._config, SHARE: f"{task}/{tasks}"} for task in range(tasks)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check that types are of groups that there are."""
        return LogSourceSettings.config_def().validate_together(
            config, lambda: LogSourceSettings.parse(config), key="line.regex"
        )

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A file can be read again from any offset."""
        del config
        return ExactlyOnceSupport.SUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept positions inside of files; of a file that is not on this machine any."""
        del config
        known = True
        for partition, offset in offsets:
            if offset is None:
                # Whatever is forgotten, the next start is well defined.
                continue
            path = check_partition(partition)
            known &= _check_position(path, LinePlace.of(offset))
        return known

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the lines between two places, where the files are on this machine."""
        looked = _Moves(config)
        return [looked.effect(move) for move in moves]

    def find_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition, SourceOffset]],
        time: datetime,
    ) -> list[tuple[SourcePartition, SourceOffset | None]]:
        """Find the files that were changed since a time, where they are on this machine."""
        looked = _Moves(config)
        found = [(partition, looked.at(partition, time)) for partition, _ in offsets]
        return [(partition, offset) for partition, offset in found if offset is not None]


class _Moves:
    """Looks at the files once; use it for one question."""

    def __init__(self, config: Mapping[str, str | None]) -> None:
        """Use the connector's configuration."""
        self._choice = FileChoice(LogSourceSettings.parse(config))
        self._listing = DirectoryListing()
        self._found = self._choice.find(self._listing)

    def effect(self, move: OffsetMove) -> OffsetEffect | None:
        """Count the lines of all files between two places; None where a place is not found in any file."""
        try:
            files = self._files(check_partition(move.partition))
            ends = [_found(files, offset) for offset in (move.before, move.after)]
        except ConnectError:
            return None
        before, after = ends
        if before is None or after is None:
            return None
        low, high = min(before, after), max(before, after)
        count = 0
        for at in range(low[0], high[0] + 1):
            file = files[at]
            end = high[1] if at == high[0] else file.size
            counted = None if file.archive else effect_of(file.path, low[1] if at == low[0] else 0, end)
            if counted is None or counted.unit != "lines":
                return None
            count += counted.skipped or 0
        return OffsetEffect(count, 0, "lines") if after < before else OffsetEffect(0, count, "lines")

    def at(self, partition: Mapping[str, Any], time: datetime) -> dict[str, Any] | None:
        """Return the offset from which on all is read that is as new as a time; None where nothing is here.

        It is the start of the first file that was changed since, or the end of the last one.
        """
        files = self._files(check_partition(partition))
        since = (time - _EPOCH) // timedelta(microseconds=1) * 1000
        newer = next((file for file in files if file.modified_ns >= since), None)
        if newer is not None:
            return place_at_start(newer).offset()
        if not files or files[-1].archive:
            return None
        return replace(place_at_start(files[-1]), position=files[-1].size).offset()

    def _files(self, log: str) -> list[LogFile]:
        return files_of(log, self._listing, self._choice.log_of, self._found.get(log, ()))


def _found(files: list[LogFile], offset: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """Return which file an offset is in, and where."""
    if not files:
        return None
    if offset is None:
        return 0, 0
    place = LinePlace.of(offset)
    at = find(files, place) if place.names_file else len(files) - 1
    return None if at is None else (at, place.position)


def _check_position(path: str, place: LinePlace) -> bool:
    """Return whether the position is known to work."""
    if place.names_file:
        return True  # one that was stored; its file may have been rotated
    try:
        size = os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return Path(path).parent.is_dir()
    if place.position > size:
        raise ConnectError(
            f"{path} has {size} bytes: the position {place.position} is behind its end. "
            f"Give one from 0 to {size}"
        )
    return True


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=SUMMARY,
    config=LogSourceSettings.config_def(),
    factory=LogSourceConnector,
    task_class_name=TASK_CLASS_NAME,
    task_factory=LogSourceTask,
    guarantees=GUARANTEES,
    tested_with="files on Linux, rotated, truncated and compressed",
    examples=EXAMPLES,
)
