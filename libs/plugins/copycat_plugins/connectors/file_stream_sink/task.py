"""FileStreamSink's task: writes values as Java prints them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.data.java_lines import to_lines
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SinkTask

from copycat_plugins.connectors.file_stream_sink.spec import CONFIG, FILE

_END = os.linesep


class FileStreamSinkTask(SinkTask):
    """Hands each batch to the operating system in one piece, so that lines of several tasks do not mix.

    It does not wait for the disk: lines whose offsets are committed outlive this process, but may be lost
    with the machine, as in Kafka Connect.
    """

    def __init__(self) -> None:
        self._name: str | None = None
        self._descriptor: int | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Open the file to append to; create it where it is missing."""
        self._name = CONFIG.parse(config)[FILE] or None
        if self._name is None:
            self._descriptor = sys.stdout.fileno()
            return
        try:
            self._descriptor = os.open(self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            message = f"Couldn't find or create file '{self._name}' for FileStreamSinkTask"
            raise ConnectError(message) from error

    def put(self, records: SinkBatch) -> None:
        """Write each value and a line end."""
        if not records:
            return
        lines = [*records.values, ""]
        try:
            text = _END.join(lines)
        except TypeError:
            text = to_lines(records.values, _END)
        self._write(text.encode("utf-8", "replace"))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Do nothing: `put` has handed everything over."""

    def stop(self) -> None:
        """Close the file."""
        if self._descriptor is not None and self._name is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def _write(self, encoded: bytes) -> None:
        if self._descriptor is None:
            raise ConnectError("FileStreamSinkTask is not started")
        try:
            written = os.write(self._descriptor, encoded)
            while written < len(encoded):
                encoded = encoded[written:]
                written = os.write(self._descriptor, encoded)
        except OSError as error:
            message = f"Writing to {self._name or 'the standard output'} failed: {error.strerror}"
            raise ConnectError(message) from error
