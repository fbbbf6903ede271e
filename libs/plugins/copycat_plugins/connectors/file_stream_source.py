"""FileStreamSource: the lines of a file as records."""

from __future__ import annotations

import logging
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from copycat_connect.config import HIGH, LOW, all_of, file_name, non_empty, topic_name
from copycat_connect.config.settings import Settings, key
from copycat_connect.data import STRING_SCHEMA, SourceBatch
from copycat_connect.errors import ConnectError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import (
    ExactlyOnceSupport,
    OffsetEffect,
    OffsetMove,
    PluginKind,
    PluginSpec,
    SourceConnector,
    SourceTask,
)
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.lines import LineBuffer, effect_of, positions

_CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSourceConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSourceTask"

_FILE = "file"

_FILENAME = "filename"
"""The key of a source partition."""
_POSITION = "position"
"""The key of a source offset."""

_SUMMARY = (
    "Copies the lines of a file, or of the standard input, into a topic, and goes on as the file grows."
)
_GUARANTEES = (
    "At least once, in file order; with a file also exactly once, or at most once (delivery.guarantee). The "
    "source partition is {filename}, the source offset {position}: the bytes before the next line. The "
    "standard input has no offsets. A last line without an end waits for one."
)


class FileStreamSourceSettings(Settings):
    """Which lines become records, where, and how many at once."""

    file: str | None = key(
        HIGH,
        name=_FILE,
        default=None,
        check=file_name,
        doc="File to read; without it the standard input is read.",
    )
    topic: str = key(
        HIGH,
        check=all_of((non_empty, topic_name)),
        doc="Topic that receives the lines.",
    )
    batch_size: int = key(
        LOW,
        default=2000,
        doc="The most lines the task takes from the file at once.",
    )


_EXAMPLES = {
    "A log file": {"file": "/var/log/messages", "topic": "messages"},
    "Many lines at once": {"file": "/data/big.txt", "topic": "lines", "batch.size": "10000"},
}


class FileStreamSourceConnector(SourceConnector):
    """Hands the whole file to one task."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        FileStreamSourceSettings.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one configuration, whatever the limit."""
        del max_tasks
        return [self._config]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A file can be read again from an offset; the standard input cannot."""
        return ExactlyOnceSupport.SUPPORTED if config.get(_FILE) else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any file's name with a position from 0 up."""
        if not config.get(_FILE):
            raise ConnectError(
                "Offsets cannot be modified if the 'file' configuration is unspecified. "
                "This is because stdin is used for input and offsets are not tracked."
            )
        for partition, offset in offsets:
            if offset is None:
                # Whatever is forgotten, the next start is well defined.
                continue
            _check_offset(offset)
            _check_partition(partition)
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the lines between two positions, where the file is on this machine."""
        return [_effect(config.get(_FILE), move) for move in moves]


def _effect(file: str | None, move: OffsetMove) -> OffsetEffect | None:
    if not file or move.partition.get(_FILENAME) != file:
        return OffsetEffect(0, 0, "lines")  # no task reads it
    before, after = (0 if offset is None else offset.get(_POSITION) for offset in (move.before, move.after))
    if not (_is_position(before) and _is_position(after)):
        return None
    return effect_of(file, before, after)


def _is_position(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_offset(offset: SourceOffset) -> None:
    if _POSITION not in offset:
        raise ConnectError("Offset objects should either be null or contain the key 'position'")
    position = offset[_POSITION]
    if isinstance(position, bool) or not isinstance(position, int):
        raise ConnectError("The value for the 'position' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError("The value for the 'position' key in the offset should be a non-negative value")


def _check_partition(partition: SourcePartition | None) -> None:
    if partition is None:
        raise ConnectError("Partition objects cannot be null")
    if _FILENAME not in partition:
        raise ConnectError("Partition objects should contain the key 'filename'")


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
        self._lines = LineBuffer()
        self._waits = 0
        self._warned = False
        self._waits_for: str | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration, and the position to continue from."""
        self._settings = FileStreamSourceSettings.parse(config)
        self._file = self._settings.file or None
        self._partition = {_FILENAME: self._file}
        if self._file is None:
            if sys.stdin is None:
                raise ConnectError("There is no standard input to read; set 'file'")
            self._descriptor = sys.stdin.fileno()
        else:
            self._lines = LineBuffer(self._committed_position())

    def poll(self) -> SourceBatch | None:
        """Return up to `batch.size` lines; nothing after a short wait when no line has ended."""
        if not self._lines and not self._read():
            return None
        start = self._lines.position
        lines, lengths = self._lines.take(self._settings.batch_size)
        return SourceBatch(
            self._settings.topic,
            lines,
            value_schema=STRING_SCHEMA,
            source_partition=self._partition,
            source_offset=self._offset(self._lines.position),
            utf8=True,
            offsets=lambda: [self._offset(after) for after in positions(start, lines, lengths)],
            timestamp=int(self._clock() * 1000),
        )

    def stop(self) -> None:
        """Close the file; standard input stays open."""
        if self._descriptor is not None and self._file is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def _offset(self, position: int) -> dict[str, int | None]:
        return {_POSITION: position if self._file is not None else None}

    def _committed_position(self) -> int:
        offset = self.context.offset(self._partition)
        position = None if offset is None else offset.get(_POSITION)
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
            raise ConnectError(f"Cannot open {self._file}: {error.strerror}") from error
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
            raise ConnectError(f"Cannot read {self._file}: it is a directory")
        if stat.S_ISREG(mode):
            # Beyond the end reads give nothing until the file has grown that far.
            os.lseek(descriptor, self._lines.position, os.SEEK_SET)


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=FileStreamSourceSettings.config_def(),
    factory=FileStreamSourceConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=FileStreamSourceTask,
    guarantees=_GUARANTEES,
    tested_with="files on Linux",
    examples=_EXAMPLES,
)
