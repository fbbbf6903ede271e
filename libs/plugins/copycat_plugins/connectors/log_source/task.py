"""LogSource's task: looks for what is new in its share of the logs, and reads it in turn."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from zlib import crc32

from copycat_connect.data import SourceBatch, SourceRecord
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.log_source.choice import DirectoryListing, FileChoice
from copycat_plugins.connectors.log_source.cutting import Cutter
from copycat_plugins.connectors.log_source.family import LogFile, files_of, stat_of
from copycat_plugins.connectors.log_source.log import OpenLog
from copycat_plugins.connectors.log_source.pieces import Piece
from copycat_plugins.connectors.log_source.place import FILENAME, LinePlace
from copycat_plugins.connectors.log_source.settings import SHARE, LogSourceSettings

_IDLE_SECONDS = 0.1
#: A file that has not grown for so long is closed; the next look finds out when it grows again.
_OPEN_SECONDS = 5.0
#: So many logs are looked at on their own between two scans, which do it for many at once.
_LOOKS = 16
_ASKED_AT_ONCE = 1000
#: Looking for files takes no more than this part of the time.
_SCAN_PART = 0.05


class LogSourceTask(SourceTask):
    """Reads every log up to its end, a portion of each in turn."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Make a task; the clock gives seconds."""
        self._clock = clock
        self._logs: dict[str, OpenLog] = {}
        self._matched: dict[str, list[str]] = {}
        self._queue: deque[OpenLog] = deque()
        self._open: OrderedDict[str, OpenLog] = OrderedDict()
        self._waiting: dict[str, OpenLog] = {}
        self._held: Piece | None = None
        self._met: set[str] = set()
        self._next_scan = self._not_before = 0.0
        self._looks = _LOOKS

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration; files are looked for by `poll`."""
        self._settings = LogSourceSettings.parse(config)
        self._choice = FileChoice(self._settings)
        self._cutter = Cutter(self._settings)
        share, shares = config.get(SHARE, "0/1").split("/")
        self._share, self._shares = int(share), int(shares)

    def poll(self) -> SourceBatch | list[SourceRecord] | None:
        """Return the next records of one log, or few ones of several; nothing after a short wait."""
        now = self._clock()
        if now < self._not_before:
            self.context.wait(min(self._not_before - now, 1.0))
            return None
        if now >= self._next_scan:
            self._scan(now)
        pieces = self._pieces(now)
        if not pieces:
            self.context.wait(min(_IDLE_SECONDS, max(self._next_scan - self._clock(), 0.0)))
            return None
        if self._settings.rate >= 0:
            self._slow_down(sum(piece.size for piece in pieces), now)
        if len(pieces) == 1:
            return pieces[0].batch(headers=self._settings.headers)
        return [record for piece in pieces for record in piece.records(headers=self._settings.headers)]

    def stop(self) -> None:
        """Close all files."""
        for log in self._logs.values():
            log.close()

    def _pieces(self, now: float) -> list[Piece]:
        """Read until there is a batch, or every log has been tried."""
        held, self._held = self._held, None
        if held is not None:
            return [held]
        if not self._queue:
            self._line_up_likely(now)
        pieces: list[Piece] = []
        size = 0
        while self._queue and size < self._settings.batch_max_bytes:
            log = self._queue.popleft()
            log.queued = False
            piece = self._read(log, now)
            if piece is None:
                continue
            if piece.size * 2 >= self._settings.batch_max_bytes and pieces:
                self._held = piece  # as columns, by the next poll
                break
            pieces.append(piece)
            size += piece.size
            if piece.size * 2 >= self._settings.batch_max_bytes:
                break
        return pieces

    def _read(self, log: OpenLog, now: float) -> Piece | None:
        piece = log.read(now)
        if log.look_again and self._looks:
            self._looks -= 1
            log.look(self._family_of(log, DirectoryListing()))
            if log.begins:
                log.begin(self._family_of(log, DirectoryListing()))
            piece = piece or log.read(now)
        self._keep_open(log)
        if log.waits:
            self._waiting[log.path] = log
        else:
            self._waiting.pop(log.path, None)
        if piece is not None:
            self._line_up(log)
        return piece

    def _line_up(self, log: OpenLog) -> None:
        if not log.queued:
            log.queued = True
            self._queue.append(log)

    def _line_up_likely(self, now: float) -> None:
        """Line up the logs that grew lately, and those that wait for time to pass."""
        for log in [*self._open.values()]:
            if now - log.grown > _OPEN_SECONDS:
                log.close()
                del self._open[log.path]
            else:
                self._line_up(log)
        for log in self._waiting.values():
            self._line_up(log)

    def _keep_open(self, log: OpenLog) -> None:
        self._open.pop(log.path, None)
        if log.is_open:
            self._open[log.path] = log
            if len(self._open) > self._settings.open_files_max:
                self._open.popitem(last=False)[1].close()

    def _scan(self, now: float) -> None:
        """Look for files that are new, longer, or others than before."""
        began = time.thread_time()
        listing = DirectoryListing()
        found = self._choice.find(listing)
        self._matched = {log: files for log, files in found.items() if self._is_mine(log)}
        self._meet(self._matched)
        beginning: list[OpenLog] = []
        for path in self._matched:
            log = self._logs[path]
            seen = stat_of(path)
            if seen == log.seen and log.settled:
                continue
            if not log.settled or seen is None or log.seen is None or seen[0] != log.seen[0]:
                log.look(self._family_of(log, listing))
            if log.begins:
                beginning.append(log)
            log.seen = seen
            self._line_up(log)
        again = DirectoryListing()
        for log in beginning:
            log.begin(self._family_of(log, again))
        self._forget_absent()
        self._say_missing(again)
        self._looks = _LOOKS
        spent = time.thread_time() - began
        self._next_scan = self._clock() + max(self._settings.scan_seconds, spent / _SCAN_PART)

    def _say_missing(self, listing: DirectoryListing) -> None:
        """Say which files are waited for; one that was there may have been rotated away for a moment."""
        missing = [f"folder {each}" for each in self._choice.missing_folders()]
        for log, file in self._choice.named().items():
            if log in self._met or not self._is_mine(log):
                continue
            if listing.names_of(log, self._choice.log_of):
                self._met.add(log)
            else:
                missing.append(f"file {file}")
        self.context.waiting(f"what does not exist: {', '.join(missing)}" if missing else None)

    def _is_mine(self, log: str) -> bool:
        known = log in self._logs
        return known or crc32(log.encode("utf-8", "surrogateescape")) % self._shares == self._share

    def _meet(self, found: Mapping[str, list[str]]) -> None:
        """Begin with logs that were not there before, where they were left."""
        new = [path for path in found if path not in self._logs]
        for first in range(0, len(new), _ASKED_AT_ONCE):
            asked = new[first : first + _ASKED_AT_ONCE]
            stored = self.context.offsets([{FILENAME: path} for path in asked])
            for path, offset in zip(asked, stored, strict=True):
                place = None if offset is None else LinePlace.of(offset)
                self._logs[path] = OpenLog(path, self._settings, self._cutter, place)

    def _forget_absent(self) -> None:
        """Drop logs of which no file is left and everything was read."""
        for path in [path for path in self._logs if path not in self._matched]:
            log = self._logs[path]
            if log.is_open or log.queued or log.waits:
                continue
            del self._logs[path]
            self._waiting.pop(path, None)

    def _family_of(self, log: OpenLog, listing: DirectoryListing) -> Callable[[], list[LogFile]]:
        matched = frozenset(self._matched.get(log.path, ()))
        return lambda: files_of(log.path, listing, self._choice.log_of, matched)

    def _slow_down(self, size: int, now: float) -> None:
        self._not_before = max(self._not_before, now) + size / max(self._settings.rate, 1)
