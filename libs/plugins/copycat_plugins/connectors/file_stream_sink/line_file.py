"""The file that lines are appended to, each on a line of its own, whatever a full disk left behind."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from copycat_connect.errors import ConnectError

LINE_END = os.linesep.encode()
_MAX_LOCK_ATTEMPTS = 1000
_LOCK_PAUSE_SECONDS = 0.001


class LineFile:
    """Appends whole lines to a file that other tasks, and its owner, may append to as well.

    A write that fails half way, as on a full disk, leaves a piece of a line, which is cut off at once: while
    the lock is held, and the file ends with the very bytes that were written, nobody else has written behind
    them. Lines that are whole stay, since whoever reads the file may have read them. A piece that another
    process left, which was killed while it wrote, stays: whose it is cannot be known. So before every write
    the last byte of the file is looked at, and where it ends no line, a new one is begun.
    """

    def __init__(self, name: str | None, write: Callable[[int, memoryview], int] = os.write) -> None:
        """Open a file to append to, create it where it is missing.

        Args:
            name: Path of the file; None stands for the standard output.
            write: Writes to a descriptor and returns how many of the bytes it took, as `os.write` does.

        Raises:
            ConnectError: The file cannot be opened.
        """
        self._name = name
        self._write = write
        self._reader: int | None = None
        self._locked = False
        self._ends_in_a_line = True
        if name is None:
            # What the process has for standard output; a worker bounds what other plugins print.
            self._descriptor = getattr(sys.stdout, "unlimited", sys.stdout).fileno()
            return
        try:
            self._descriptor = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise ConnectError(f"Couldn't find or create file '{name}' for FileStreamSinkTask") from error
        status = os.fstat(self._descriptor)
        if stat.S_ISREG(status.st_mode):
            self._reader = _reader(name, status)
            # What cannot be read may end anywhere: an empty line too many loses nothing.
            self._ends_in_a_line = self._reader is not None or status.st_size == 0

    def append(self, lines: bytes) -> None:
        """Write lines, the last of them ended too; nothing of them stays in this process.

        Raises:
            ConnectError: They could not be written, or only in part.
        """
        try:
            with self._alone():
                self._append(lines)
        except OSError as error:
            raise ConnectError(
                f"Writing to {self._name or 'the standard output'} failed: {error.strerror}"
            ) from error

    def _append(self, lines: bytes) -> None:
        rest = memoryview(lines if self._at_line_start() else LINE_END + lines)
        self._ends_in_a_line = False
        whole, begins_at = rest, self._size()
        try:
            while rest:
                rest = rest[self._write(self._descriptor, rest) :]
        except OSError:
            self._cut_off_piece(begins_at, bytes(whole[: len(whole) - len(rest)]))
            raise
        self._ends_in_a_line = True

    def _size(self) -> int:
        return 0 if self._reader is None else os.fstat(self._reader).st_size

    def _cut_off_piece(self, begins_at: int, written: bytes) -> None:
        """Cut off the line that a failed write left unended, where it is still what the file ends with."""
        piece = len(written) - (written.rfind(LINE_END[-1:]) + 1)
        if self._reader is None or not self._locked or not piece:
            return
        with suppress(OSError):  # the failure of the write is what is to be reported
            end = begins_at + len(written)
            if self._size() == end and os.pread(self._reader, len(written), begins_at) == written:
                os.ftruncate(self._descriptor, end - piece)

    def close(self) -> None:
        """Close the file, but not the standard output; to be called once.

        Raises:
            ConnectError: The file system reports only now that it could not keep what was written.
        """
        if self._reader is not None:
            os.close(self._reader)
        if self._name is None:
            return
        try:
            os.close(self._descriptor)
        except OSError as error:
            raise ConnectError(f"Closing {self._name} failed: {error.strerror}") from error

    def _at_line_start(self) -> bool:
        if self._reader is None:
            return self._ends_in_a_line
        size = os.fstat(self._reader).st_size
        return size == 0 or os.pread(self._reader, 1, size - 1) == LINE_END[-1:]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep the other tasks from writing: a line that one of them is writing would look like a piece.

        Whoever else holds the lock delays a write for a second and does not stop it.
        """
        if self._reader is None:
            yield
            return
        self._locked = _lock(self._reader)
        try:
            yield
        finally:
            if self._locked:
                fcntl.flock(self._reader, fcntl.LOCK_UN)


def _reader(name: str, status: os.stat_result) -> int | None:
    """Open the file that was opened for writing a second time, for reading; None when that is not allowed."""
    try:
        reader = os.open(name, os.O_RDONLY)
    except OSError:
        return None
    if os.path.samestat(os.fstat(reader), status):
        return reader
    os.close(reader)  # replaced in this very moment
    return None


def _lock(descriptor: int) -> bool:
    for _ in range(_MAX_LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_SECONDS)
        except OSError:
            return False  # a file system without locks
        else:
            return True
    return False
