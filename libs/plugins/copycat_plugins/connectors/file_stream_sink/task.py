"""FileStreamSink's task: writes values as Java prints them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.data.java_lines import to_lines
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SinkTask

from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
from copycat_plugins.connectors.file_stream_sink.spec import CONFIG, FILE


class FileStreamSinkTask(SinkTask):
    """Hands each batch to the operating system in one piece, so that lines of several tasks do not mix.

    It does not wait for the disk: lines whose offsets are committed outlive this process, but may be lost
    with the machine, as in Kafka Connect.
    """

    def __init__(self) -> None:
        self._file: LineFile | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Open the file to append to; create it where it is missing."""
        self._file = LineFile(CONFIG.parse(config)[FILE] or None)

    def put(self, records: SinkBatch) -> None:
        """Write each value and a line end."""
        if not records:
            return
        if self._file is None:
            raise ConnectError("FileStreamSinkTask is not started")
        lines = [*records.values, ""]
        try:
            text = os.linesep.join(lines)
        except TypeError:
            text = to_lines(records.values, os.linesep, lambda: records.value_schemas)
        self._file.append(text.encode("utf-8", "replace"))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Do nothing: `put` has handed everything over."""

    def stop(self) -> None:
        """Close the file; standard output stays open."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
