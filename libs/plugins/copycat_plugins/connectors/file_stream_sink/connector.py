"""FileStreamSink: as many tasks as are allowed append values, as Java prints them, to one file.

Under exactly-once one task has the file for itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping

from copycat_connect.config import (
    HIGH,
    file_name,
)
from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.config.settings import Settings, key, taken_from
from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.data.java_lines import line_bytes
from copycat_connect.errors import ConnectError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import ExactlyOnceSupport, PluginKind, PluginSpec, SinkConnector, SinkTask

from copycat_plugins.connectors.file_stream_sink.exact_file import ExactFile
from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
from copycat_plugins.connectors.file_stream_sink.taking import FileNames, forget

_CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSinkConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSinkTask"
_FILE = "file"
_SUMMARY = "Appends the value of every record to a file, or to the standard output, one a line."
_GUARANTEES = (
    "At least once, in order per Kafka partition; all tasks append to one file. Offsets are committed after "
    "the lines were handed to the operating system: they outlive the process, not the machine. A line that "
    "a full disk cut short is written again once there is room; a piece of a line that a killed process "
    "left stays, and what comes next begins a new line. At most once on request. Exactly once on request, "
    "into a file: by one task, alone in its file, on a file system with locks that all workers see; "
    "`<file>.copycat-positions` beside it has the positions, each commit waits for the disk, and after a "
    "crash what lies behind the last commit is cut off and written again."
)
_EXAMPLES = {
    "A copy of a topic": {"topics": "messages", "file": "/data/messages.txt"},
    "A copy without repeats": {
        "topics": "messages",
        "file": "/data/messages.txt",
        "delivery.guarantee": "exactly_once",
    },
}


class FileStreamSinkSettings(Settings):
    """Where values are written to."""

    file: str | None = key(
        HIGH,
        name=_FILE,
        default=None,
        check=file_name,
        doc="File to append to; without it the standard output.",
    )
    connector: str = taken_from(lambda config: config.get("name") or "")


class FileStreamSinkConnector(SinkConnector):
    """Gives every task the same configuration."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        FileStreamSinkSettings.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the connector's own configuration for every task; a file with positions has one writer."""
        exactly_once = guarantee_of_sink(self._config) is Guarantee.EXACTLY_ONCE
        return [dict(self._config) for _ in range(min(max_tasks, 1) if exactly_once else max_tasks)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Support it for a file; what was written to the standard output cannot be taken back."""
        return ExactlyOnceSupport.SUPPORTED if config.get(_FILE) else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets, and change those stored beside the file.

        What is written stays, what is read again is appended again.
        """
        path = config.get(_FILE)
        exactly_once = guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE
        if path and (exactly_once or FileNames.of(path).journal.exists()):
            file = ExactFile(path, config.get("name", ""), _wait)
            try:
                file.move(offsets)
            finally:
                file.close()
        return True


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


def _wait(seconds: float) -> bool:
    time.sleep(seconds)
    return False


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=FileStreamSinkSettings.config_def(),
    factory=FileStreamSinkConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=FileStreamSinkTask,
    guarantees=_GUARANTEES,
    tested_with="files on Linux",
    examples=_EXAMPLES,
)
