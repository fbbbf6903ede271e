"""FileStreamSource's task: follows a file and hands out its lines."""

from __future__ import annotations

import logging
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Mapping

from copycat_connect.data import STRING_SCHEMA, SourceBatch
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.file_stream_source.spec import (
    BATCH_SIZE,
    CONFIG,
    FILE,
    FILENAME,
    POSITION,
    TOPIC,
)
from copycat_plugins.connectors.lines import Lines, positions

_CHUNK_BYTES = 1 << 20
_NO_LINES_WAIT_SECONDS = 0.25
#: Of a file to which nothing was added for ten seconds, as Kafka Connect's task waits.
_QUIET_FILE_WAIT_SECONDS = 1.0
_WAITS_UNTIL_QUIET = 40
_MISSING_FILE_WAIT_SECONDS = 1.0
_log = logging.getLogger(__name__)


class FileStreamSourceTask(SourceTask):
    """Reads in large chunks and cuts them into lines without making a text object of any.

    The file is opened once: truncation and replacement go unnoticed, as in Kafka Connect.
    """

    def __init__(self, chunk_size: int = _CHUNK_BYTES, clock: Callable[[], float] = time.time) -> None:
        """Make a task that reads up to so many bytes at once; the clock gives seconds since the epoch."""
        self._chunk_size = chunk_size
        self._clock = clock
        self._descriptor: int | None = None
        self._lines = Lines()
        self._waits = 0
        self._warned = False
        self._waits_for: str | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Take the configuration, and the position to continue from."""
        parsed = CONFIG.parse(config)
        self._topic: str = parsed[TOPIC]
        self._batch_size: int = parsed[BATCH_SIZE]
        self._file: str | None = parsed[FILE] or None
        self._partition = {FILENAME: self._file}
        if self._file is None:
            if sys.stdin is None:
                raise ConnectError("There is no standard input to read; set 'file'")
            self._descriptor = sys.stdin.fileno()
        else:
            self._lines = Lines(self._committed_position())

    def poll(self) -> SourceBatch | None:
        """Return up to `batch.size` lines; nothing after a short wait when no line has ended."""
        if not self._lines and not self._read():
            return None
        start = self._lines.position
        lines, lengths = self._lines.take(self._batch_size)
        return SourceBatch(
            self._topic,
            lines,
            value_schema=STRING_SCHEMA,
            source_partition=self._partition,
            source_offset=self._offset(self._lines.position),
            utf8=True,
            offsets=lambda: [self._offset(after) for after in positions(start, lines, lengths)],
            read_at=int(self._clock() * 1000),
        )

    def stop(self) -> None:
        """Close the file; standard input stays open."""
        if self._descriptor is not None and self._file is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def _offset(self, position: int) -> dict[str, int | None]:
        return {POSITION: position if self._file is not None else None}

    def _committed_position(self) -> int:
        offset = self.context.offset(self._partition)
        position = None if offset is None else offset.get(POSITION)
        if position is None:
            return 0
        if isinstance(position, bool) or not isinstance(position, int):
            raise ConnectError("Offset position is the incorrect type")
        return position

    def _read(self) -> bool:
        """Read until a line has ended; False when none has and the wait for one is over."""
        if self._descriptor is None and not self._open():
            return False
        while not self._lines:
            chunk = self._read_chunk()
            if not chunk:
                self._wait_for_lines()
                return False
            self._waits = 0
            self._lines.feed(chunk)
        return True

    def _wait_for_lines(self) -> None:
        quiet = self._waits >= _WAITS_UNTIL_QUIET
        self._waits += 1
        self.context.wait(_QUIET_FILE_WAIT_SECONDS if quiet else _NO_LINES_WAIT_SECONDS)

    def _read_chunk(self) -> bytes:
        descriptor = self._descriptor
        assert descriptor is not None  # opened by the caller
        if self._file is None and not select.select([descriptor], [], [], _NO_LINES_WAIT_SECONDS)[0]:
            return b""
        try:
            chunk = os.read(descriptor, self._chunk_size)
        except OSError as error:
            # Kafka's task takes a failed read for "nothing yet" too.
            self._warn_once("Reading %s failed, trying again: %s", self._file, error)
            self._wait_for(f"file {self._file}, which cannot be read: {error.strerror}")
            return b""
        self._wait_for(None)
        return chunk

    def _open(self) -> bool:
        assert self._file is not None  # the standard input is open from the start
        try:
            descriptor = os.open(self._file, os.O_RDONLY)
        except FileNotFoundError:
            self._warn_once("Couldn't find file %s, waiting for it to be created", self._file)
            self._wait_for(f"file {self._file}, which does not exist")
            self.context.wait(_MISSING_FILE_WAIT_SECONDS)
            return False
        except OSError as error:
            message = f"Cannot open {self._file}: {error.strerror}"
            raise ConnectError(message) from error
        self._wait_for(None)
        self._descriptor = descriptor
        self._skip(descriptor)
        return True

    def _wait_for(self, reason: str | None) -> None:
        if reason != self._waits_for:
            self._waits_for = reason
            self.context.waiting(reason)

    def _warn_once(self, text: str, *details: object) -> None:
        if not self._warned:
            _log.warning(text, *details)
            self._warned = True

    def _skip(self, descriptor: int) -> None:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            message = f"Cannot read {self._file}: it is a directory"
            raise ConnectError(message)
        if stat.S_ISREG(mode):
            # Beyond the end reads give nothing until the file has grown that far.
            os.lseek(descriptor, self._lines.position, os.SEEK_SET)
