"""FileStreamSink's task: writes values as Java prints them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.data.java_lines import line_bytes
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SinkTask

from copycat_plugins.connectors.file_stream_sink.exact_file import ExactFile
from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
from copycat_plugins.connectors.file_stream_sink.settings import FileStreamSinkSettings
from copycat_plugins.connectors.file_stream_sink.taking import forget


class FileStreamSinkTask(SinkTask):
    """Hands each batch to the operating system in one piece, so that lines of several tasks do not mix.

    It does not wait for the disk: lines whose offsets are committed outlive this process, but may be lost
    with the machine, as in Kafka Connect. Under exactly-once the file is this task's alone, and a flush waits
    for the disk.
    """

    def __init__(self) -> None:
        self._file: LineFile | ExactFile | None = None
        self._path: str | None = None
        self._connector = ""

    def start(self, config: Mapping[str, str]) -> None:
        """Open the file to append to; create it where it is missing.

        Under exactly-once it is opened when the engine asks for the positions.
        """
        settings = FileStreamSinkSettings.parse(config)
        path, connector = settings.file or None, settings.connector
        if guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE and path is not None:
            self._path, self._connector = path, connector
            return
        if path is not None:
            forget(path, connector)
        self._file = LineFile(path)

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int] | None:
        """Take over the file from whoever had it, this task too, and return what is stored beside it."""
        if self._path is None:
            return None
        self.stop()
        self._file = file = ExactFile(self._path, self._connector, self.context.wait)
        return file.positions

    def put(self, records: SinkBatch) -> None:
        """Write each value and a line end."""
        if not records:
            return
        if self._file is None:
            raise ConnectError("FileStreamSinkTask is not started")
        self._file.append(line_bytes(records.column, os.linesep, lambda: records.value_schemas))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Do nothing, as `put` has handed everything over; under exactly-once, store it with offsets."""
        if isinstance(self._file, ExactFile):
            self._file.store(offsets)

    def stop(self) -> None:
        """Close the file; standard output stays open."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
