"""When the files of a topic-partition are complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class Rotation:
    """All files of a topic-partition are complete as soon as one of these says so."""

    records: int
    """How many records they have together, at the most."""
    bytes: int = NEVER
    """How many bytes they have together, about."""
    interval: int = NEVER
    """How long after the first record's time the last one's may be, in ms."""
    schedule: int = NEVER
    """How often by the clock, in ms from midnight."""
    zone: tzinfo | None = None
    """Whose midnight."""
    quiet: bool = True
    """Whether files are complete after the interval by the clock, too, though no more records come."""
    by_folder: bool = False
    """Whether a record of another folder than the last one's ends the files."""

    def cut(self, times: Sequence[int] | None, start: int, end: int, first: int | None) -> int:
        """Return where the interval ends among records `start` to `end`; `end` where it does not.

        `first` is the time of the files' first record; None when they have none.
        """
        if self.interval < 0 or times is None:
            return end
        begin = times[start] if first is None else first
        limit = begin + self.interval
        return next((place for place in range(start, end) if times[place] >= limit), end)

    def cut_folders(
        self, folders: str | Sequence[str | None], start: int, end: int, current: str | None
    ) -> int:
        """Return where among records `start` to `end` another folder begins; `end` where none does.

        `current` is the folder of the files' last record; None when they have none.
        """
        if not self.by_folder:
            return end
        if isinstance(folders, str):
            return end if current in (None, folders) else start
        for place in range(start, end):
            folder = folders[place]
            if folder is not None and current is not None and folder != current:
                return place
            current = folder or current
        return end

    def deadline(self, opened: float) -> float:
        """Return the time by the clock when files opened at a time are complete; times in s since 1970."""
        found = float("inf")
        if self.schedule > 0:
            found = self._scheduled(opened)
        if self.interval >= 0 and self.quiet:
            found = min(found, opened + self.interval / 1000)
        return found

    def _scheduled(self, opened: float) -> float:
        local = datetime.fromtimestamp(opened, self.zone)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        period = timedelta(milliseconds=self.schedule)
        return (midnight + ((local - midnight) // period + 1) * period).timestamp()
