"""Folders by the records' times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from copycat_connect.data import TopicPartition
from copycat_connect.errors import DataError

from copycat_plugins.connectors.objects.names import checked_folder
from copycat_plugins.connectors.objects.partitioners.partitioner import Report
from copycat_plugins.connectors.objects.partitioners.path_format import PathFormat
from copycat_plugins.connectors.objects.records import Records

DAY: Final = 86_400_000
HOUR: Final = 3_600_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # times as clocks in the zone show them
_KNOWN_LIMIT: Final = 10_000


class TimePartitioner:
    """One folder for each stretch of time, counted by the clocks of a time zone."""

    def __init__(self, path_format: PathFormat, duration: int, zone: tzinfo) -> None:
        """Choose how folders are written, how much time each spans, in ms, and whose clocks count."""
        self._path_format = path_format
        self._duration = duration
        self._zone = zone
        self._known: dict[int, str] = {}

    def folders(
        self, partition: TopicPartition, records: Records, times: Sequence[int] | None, report: Report
    ) -> str | Sequence[str | None]:
        """Return the folder of each, or that of all; see the port."""
        del partition
        assert times is not None  # whoever has a time partitioner has times
        found: list[str | None] = []
        for place, time in enumerate(times):
            try:
                found.append(self._folder(time))
            except (OverflowError, ValueError) as error:
                message = f"A record's time, {time} ms since 1970, is in no year from 1 to 9999: {error}"
                report(records, place, DataError(message))
                found.append(None)
        if found and found[0] is not None and found.count(found[0]) == len(found):
            return found[0]
        return found

    def _folder(self, time: int) -> str:
        # No zone changes its offset within a quarter of an hour but at its start.
        quarter = time // 900_000
        stretch = quarter if self._duration % 900_000 == 0 else time
        folder = self._known.get(stretch)
        if folder is None:
            if len(self._known) >= _KNOWN_LIMIT:
                self._known.clear()
            folder = self._known[stretch] = checked_folder(self._path_format.text(self._begin(time)))
        return folder

    def _begin(self, time: int) -> datetime:
        local = (_EPOCH + timedelta(milliseconds=time)).astimezone(self._zone)
        since = (local.replace(tzinfo=None) - _NAIVE_EPOCH) // timedelta(milliseconds=1)
        begin = _NAIVE_EPOCH + timedelta(milliseconds=since // self._duration * self._duration)
        return begin.replace(tzinfo=self._zone, fold=local.fold)
