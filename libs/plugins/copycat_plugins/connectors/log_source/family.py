"""All files of one log: the one that is written to, and those that rotation has left."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass

from copycat_connect.errors import ConnectError

from copycat_plugins.connectors.log_source.choice import DirectoryListing
from copycat_plugins.connectors.log_source.contents import open_content
from copycat_plugins.connectors.log_source.names import age_by_number, is_archive, plain_name
from copycat_plugins.connectors.log_source.place import HEAD_BYTES, LinePlace, digest


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of a log, as it was when it was looked for."""

    path: str
    inode: int
    size: int
    modified_ns: int
    active: bool
    """True for the one that has the name of the log."""

    @property
    def archive(self) -> bool:
        """True when it is compressed."""
        return is_archive(self.path)

    @property
    def can_begin(self) -> bool:
        """False while it is written to and empty: without bytes it looks like the next one."""
        return self.size > 0 or not self.active


def files_of(
    log: str, listing: DirectoryListing, log_of: Callable[[str], str], matched: Collection[str]
) -> list[LogFile]:
    """Return the files of a log, the oldest first, the one that is written to last.

    Where the name of the log itself is not among those that `matched`, only these count. Of a file and its
    compressed copy, under the same name, the copy does not count.
    """
    real = os.path.realpath(log)
    directory, name = os.path.split(real)
    found = {}
    for each in listing.names_of(real, log_of):
        path = f"{directory}/{each}"
        if log in matched or f"{os.path.dirname(log)}/{each}" in matched:  # noqa: PTH120
            found[each] = path
    twins = {
        each for each in found if is_archive(each) and plain_name(each) in found and plain_name(each) != name
    }
    files = [_file(path, active=each == name) for each, path in found.items() if each not in twins]
    return sorted(filter(None, files), key=_age)


def find(files: list[LogFile], place: LinePlace) -> int | None:
    """Return which of the files a place is in; None when it is in none of them."""
    order = sorted(range(len(files)), key=lambda at: (files[at].inode != place.inode, files[at].archive))
    return next((at for at in order if _fits(files[at], place)), None)


def place_at_start(file: LogFile) -> LinePlace:
    """Return the place before the first byte of a file, which is recognised from there on."""
    try:
        content = open_content(file.path)
        try:
            head = content.read_at(0, HEAD_BYTES)
        finally:
            content.close()
    except (OSError, ConnectError):
        head = b""
    modified = file.modified_ns // 1_000_000
    return LinePlace(0, file.inode, modified, len(head), digest(head) if head else "")


def _fits(file: LogFile, place: LinePlace) -> bool:
    if file.inode != place.inode and not place.head_bytes:
        return False
    if not file.archive and file.size < place.position:
        return False
    try:
        content = open_content(file.path)
        try:
            return place.fits(content, file.inode)
        finally:
            content.close()
    except (OSError, ConnectError):
        return False


def _file(path: str, *, active: bool) -> LogFile | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # a path object for each of thousands is slow
    except OSError:
        return None
    return LogFile(path, found.st_ino, found.st_size, found.st_mtime_ns, active)


def _age(file: LogFile) -> tuple[bool, int, int, str]:
    return file.active, file.modified_ns, -age_by_number(file.path), file.path


def stat_of(path: str) -> tuple[int, int, int] | None:
    """Return inode, size and time of change of a file; None if it is missing."""
    try:
        found = os.stat(path)  # noqa: PTH116  # a path object for each of thousands is slow
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
