"""What moves of offsets would do, and which offsets belong to a time; on the machine that has the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import OffsetEffect, OffsetMove

from copycat_plugins.connectors.line_effects import effect_of
from copycat_plugins.connectors.log_source.choice import FileChoice, Listing
from copycat_plugins.connectors.log_source.family import LogFile, files_of, find, place_at_start
from copycat_plugins.connectors.log_source.place import Place, check_partition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moves:
    """Looks at the files once; use it for one question."""

    def __init__(self, config: Mapping[str, str | None]) -> None:
        """Take the connector's configuration."""
        self._choice = FileChoice(config)
        self._listing = Listing()
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
    place = Place.of(offset)
    at = find(files, place) if place.names_file else len(files) - 1
    return None if at is None else (at, place.position)
