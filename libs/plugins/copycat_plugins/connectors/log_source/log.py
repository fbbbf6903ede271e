"""One log, read through all of its files in the order in which they were written."""

from __future__ import annotations

import logging
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from copycat_plugins.connectors.log_source.contents import Content, UnreadableArchiveError, open_content
from copycat_plugins.connectors.log_source.cutting import CutRecords, Cutter
from copycat_plugins.connectors.log_source.family import LogFile, find, place_at_start
from copycat_plugins.connectors.log_source.pieces import Piece
from copycat_plugins.connectors.log_source.place import HEAD_BYTES, TAIL_BYTES, LinePlace, digest
from copycat_plugins.connectors.log_source.settings import LogSourceSettings


def _identities(files: Iterable[LogFile]) -> set[tuple[str, int]]:
    """Return paths and inodes; they are others after each rotation, and after growth the same."""
    return {(file.path, file.inode) for file in files}


def _first_to_begin(files: list[LogFile]) -> LogFile | None:
    """Return the first file; none while it must be waited for."""
    return files[0] if files and files[0].can_begin else None


def _newer_than(place: LinePlace, files: Iterable[LogFile]) -> list[LogFile]:
    """Return the files that came after the one a place is in, which is among them no more."""
    since = (place.modified or 0) * 1_000_000
    return [
        file for file in files if file.active or (file.modified_ns >= since and file.inode != place.inode)
    ]


_log = logging.getLogger(__name__)
Family = Callable[[], list[LogFile]]


class OpenLog:
    """Knows the file it is in and the position; holds no bytes of it between two reads."""

    def __init__(
        self, path: str, settings: LogSourceSettings, cutter: Cutter, stored: LinePlace | None
    ) -> None:
        """Use the path of the log, and where to go on, where that is known."""
        self.path = path
        self.look_again = True
        """True when its files must be looked at before it can go on."""
        self.waits = False
        """True when there are bytes that become a record with time alone."""
        self.queued = False
        """For whoever lines logs up."""
        self.seen: tuple[int, int, int] | None = None
        """Inode, size and time of change of the file with its name, when they were looked at last."""
        self._settings = settings
        self._cutter = cutter
        self._place = stored or LinePlace()
        self._begun = stored is not None
        self._file: LogFile | None = None
        self._next: LogFile | None = None
        self._files: list[LogFile] | None = None
        self._beginning: tuple[LogFile, LinePlace] | None = None
        self._finished = False
        self._content: Content | None = None
        self._tail = b""
        self._end_seen = -1
        self._grown = 0.0
        self._over = self._missed = False
        self._warned: set[str] = set()

    @property
    def is_open(self) -> bool:
        """True while it holds a file open."""
        return self._content is not None

    @property
    def settled(self) -> bool:
        """True while the file it reads is the one that is written to, so that only growth is of interest."""
        return self._file is not None and self._file.active and not self.look_again

    @property
    def begins(self) -> bool:
        """True while a file has been chosen that `begin` is to take, or not."""
        return self._beginning is not None

    @property
    def grown(self) -> float:
        """When its file was seen to grow last, by the monotonic clock."""
        return self._grown

    def close(self) -> None:
        """Let go of the file; reading opens it again."""
        content, self._content = self._content, None
        if content is not None:
            content.close()

    def look(self, family: Family) -> None:
        """Find the file that the place is in, and the one after it."""
        files = family()
        if files == self._files and not self.look_again:
            return  # to recognise a file in an archive means to read it
        self._files, self.look_again = files, False
        if not self._begun:
            self._choose(_first_to_begin(files))
            return
        if not self._place.names_file:
            self._take_position(files)
        self._find_place(files)
        if self._finished and not self.look_again and not self.begins:
            self._choose(self._next if self._is_followed else None)
            self._finished = self.begins or (self._file is not None and self._file.archive)

    def begin(self, family: Family) -> None:
        """Begin with the file that `look` has chosen, if the files are still the same ones.

        Between a look at the names and the reading of a file's first bytes the log may be rotated, and
        another file be under the name: what was in the chosen one would be passed over.
        """
        assert self._beginning is not None  # as `begins` says
        (file, place), self._beginning = self._beginning, None
        files = self._files or []
        if _identities(family()) != _identities(files):
            self.look_again = True
            return
        if self._finished:
            _log.info("%s is read up to %d, %s begins", self.path, self._place.position, file.path)
        self.close()
        self._file, self._place, self._tail, self._end_seen = file, place, b"", -1
        self._begun, self._over, self._finished = True, False, False
        self._next = next(iter(files[files.index(file) + 1 :]), None)

    def _choose(self, file: LogFile | None) -> None:
        self._beginning = None if file is None else (file, place_at_start(file))

    def _find_place(self, files: list[LogFile]) -> None:
        at = find(files, self._place)
        if at is None and self._finished and self._file is not None and self._file.archive:
            at = next((at for at, file in enumerate(files) if file == self._file), None)  # a damaged one
        if at is None and not self._missed:
            self._missed = self.look_again = True  # it may be getting another name just now
            return
        self._missed = False
        if at is not None:
            self._go_on_in(files[at])
            self._next = files[at + 1] if at + 1 < len(files) else None
            self._over = self._over and self._next is None
        elif self._content is not None:
            self._next = next(iter(_newer_than(self._place, files)), None)
            if self._file is not None:
                self._file = replace(self._file, active=False)
        else:
            self._begin_after_loss(files)

    def read(self, now: float) -> Piece | None:
        """Return the next records; None before there are any, or when the files must be looked at first.

        `now` is in seconds of the monotonic clock.
        """
        self.waits = False
        held = self._over or self._finished or self.look_again or self.begins
        if self._file is None or held or not self._open(self._file):
            return None
        content, before = self._content, len(self._tail)
        assert content is not None  # opened above
        window = max(self._settings.batch_max_bytes, self._cutter.window)
        try:
            same = before > 0 or self._place.begins(content)
            seen = content.read_at(self._place.position - before, window + before)
        except UnreadableArchiveError as error:
            return self._damaged(error, now)
        except OSError as error:
            self._warn(f"{self._file.path} cannot be read now: {error.strerror}")
            return None
        if not (same and seen.startswith(self._tail)):
            self._cut_short()
            return None
        return self._piece(content, seen[before:], full=len(seen) - before >= window, now=now)

    def _piece(self, content: Content, text: bytes, *, full: bool, now: float) -> Piece | None:
        if (end := self._place.position + len(text)) != self._end_seen:
            self._end_seen, self._grown = end, now
        last = not full and self._is_finished(content, now)
        quiet = not full and now - self._grown >= self._settings.record_seconds
        records = self._cutter.cut(text, full=full, last=last, quiet=quiet)
        if not records.values:
            if last:
                self._turn()
            active = self._file is not None and self._file.active
            self.waits = not active or (bool(text) and self._settings.record_start is not None)
            return None
        start, self.waits = self._place.position, True
        self._advance(content, text, records)
        return Piece.of(self.path, start, self._place, records, self._settings)

    def _is_finished(self, content: Content, now: float) -> bool:
        """Tell whether nothing more will be written to the file, whose end has been reached."""
        file = self._file
        assert file is not None  # the caller reads it
        if file.archive:
            return True
        found = content.stat()
        if file.active or not (self._is_followed or found.st_nlink == 0):
            return False
        wait = self._settings.rotated_seconds
        return now - self._grown >= wait or time.time() - found.st_mtime >= wait

    @property
    def _is_followed(self) -> bool:
        return self._next is not None and self._next.can_begin

    def _turn(self) -> None:
        """Go to the next file, as it is found by another look: it may have another name by now."""
        assert self._file is not None  # the caller has finished it
        if self._next is not None:
            self._finished = self.look_again = True
            return
        self.close()
        if self._file.archive:
            self._over = True
        else:
            self._file, self.look_again = None, True

    def _advance(self, content: Content, text: bytes, records: CutRecords) -> None:
        file, place = self._file, self._place
        assert file is not None  # the caller reads it
        self._tail = (self._tail + text[max(records.size - TAIL_BYTES, 0) : records.size])[-TAIL_BYTES:]
        if place.head_bytes < HEAD_BYTES and not (file.archive and place.position):
            place = place.known_by(content.read_at(0, HEAD_BYTES) if place.position else text[:HEAD_BYTES])
        self._place = place.moved(records.size, content.stat(), self._tail)

    def _open(self, file: LogFile) -> bool:
        if self._content is not None:
            return True
        try:
            content = open_content(file.path)
        except FileNotFoundError:
            self.look_again = True
            return False
        except OSError as error:
            self._warn(f"{file.path} cannot be opened: {error.strerror}; it is tried again")
            return False
        found = content.stat()
        if found.st_ino != file.inode or not stat.S_ISREG(found.st_mode):
            content.close()
            self.look_again = True
            return False
        self._content = content
        return self._load_tail(content)

    def _load_tail(self, content: Content) -> bool:
        position = self._place.position
        start = max(position - TAIL_BYTES, 0)
        try:
            self._tail = content.read_at(start, position - start)
        except (UnreadableArchiveError, OSError) as error:
            self._warn(str(error))
            self.close()
            return False
        whole = len(self._tail) == position - start
        if whole and self._place.tail in ("", digest(self._tail)):
            return True
        self._cut_short()
        return False

    def _cut_short(self) -> None:
        """Note that the file is not what it was: truncated, perhaps after it was copied."""
        self.close()
        self.look_again = True

    def _go_on_in(self, file: LogFile) -> None:
        before = self._file
        if before is None or (before.inode, before.archive) != (file.inode, file.archive):
            self.close()
            self._over, self._end_seen = False, -1
        self._file = file

    def _begin_after_loss(self, files: list[LogFile]) -> None:
        newer = _first_to_begin(_newer_than(self._place, files))
        if newer is None:
            self._file = self._next = None
            return
        if self._place.position and not self._finished:
            self._warn(
                f"What {self.path} was at byte {self._place.position} is no more: truncated or deleted, and "
                f"there is no copy; going on with {newer.path} at 0"
            )
        self._choose(newer)

    def _take_position(self, files: list[LogFile]) -> None:
        """Read a position that names no file, as users give it, as one in the newest file."""
        if not files:
            return
        file, position = files[-1], self._place.position
        if not file.archive and file.size < position:
            self._warn(f"{file.path} has no byte {position}: reading it from its start")
            position = 0
        self._place = LinePlace(position, file.inode, file.modified_ns // 1_000_000)
        if position == 0:
            self._go_on_in(file)

    def _damaged(self, error: UnreadableArchiveError, now: float) -> Piece | None:
        """Report an archive that cannot be read, once nobody writes it; then go to the next."""
        file = self._file
        assert file is not None  # the caller reads it
        self.close()
        if time.time() - file.modified_ns / 1e9 < max(self._settings.rotated_seconds, 10.0):
            self.look_again = True  # it may grow yet
            return None
        piece = Piece.damaged(self.path, self._place, error, self._settings)
        self._turn()
        self.waits, self._grown = True, now
        return piece

    def _warn(self, text: str) -> None:
        if text not in self._warned and len(self._warned) < 100:
            self._warned.add(text)
            _log.warning("%s", text)
