"""The bytes of a log file by position, compressed or not."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from copycat_connect.errors import ConnectError

from copycat_plugins.connectors.log_source.names import is_archive

_SKIP_BYTES = 1 << 20


class UnreadableArchiveError(ConnectError):
    """An archive is damaged, or not written to its end yet."""


class Content(Protocol):
    """An open file."""

    def stat(self) -> os.stat_result:
        """Return what the file system says of the open file."""

    def read_at(self, position: int, size: int) -> bytes:
        """Return up to so many bytes from a position on; fewer only at the end.

        Raises:
            UnreadableArchiveError: See there.
            OSError: The file cannot be read.
        """

    def close(self) -> None:
        """Let go of the file."""


def open_content(path: str) -> Content:
    """Open a file by its name.

    Raises:
        OSError: It cannot be opened.
    """
    return Archive(path) if is_archive(path) else PlainFile(path)


class PlainFile:
    """A file as it is."""

    def __init__(self, path: str) -> None:
        # A pipe that has taken the name of a log must not hang the task.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def stat(self) -> os.stat_result:
        """Return what the file system says of the open file."""
        return os.fstat(self._descriptor)

    def read_at(self, position: int, size: int) -> bytes:
        """Read by position; a short answer means the end."""
        return os.pread(self._descriptor, size, position)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class Archive:
    """A compressed file; positions are those of the text in it. Going back means to begin again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stat = Path(path).stat()
        self._stream = self._open()
        self._start = 0
        self._kept = b""

    def stat(self) -> os.stat_result:
        """Return what the file system says of the compressed file."""
        return self._stat

    def read_at(self, position: int, size: int) -> bytes:
        """Decompress as far as is needed; what was read from the last position on is kept."""
        if position < self._start:
            self._stream.close()
            self._stream, self._start, self._kept = self._open(), 0, b""
        try:
            while self._start + len(self._kept) < position + size and self._read_on(position, size):
                pass
        except (EOFError, zlib.error, gzip.BadGzipFile, OSError) as error:
            raise UnreadableArchiveError(f"{self._path} is damaged, or not complete yet: {error}") from error
        self._drop_before(position)
        return self._kept[:size]

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _read_on(self, position: int, size: int) -> bool:
        missing = position + size - self._start - len(self._kept)
        chunk = self._stream.read(min(missing, _SKIP_BYTES))
        self._kept += chunk
        self._drop_before(position)
        return bool(chunk)

    def _drop_before(self, position: int) -> None:
        passed = min(position - self._start, len(self._kept))
        if passed > 0:
            self._start, self._kept = self._start + passed, self._kept[passed:]

    def _open(self) -> BinaryIO:
        if not self._path.endswith(".zst"):
            return cast("BinaryIO", gzip.open(self._path))  # closed by `close`
        import pyarrow as pa  # noqa: PLC0415 - 300 ms, which only archives of this kind are worth

        return cast("BinaryIO", pa.CompressedInputStream(pa.OSFile(self._path), "zstd"))
