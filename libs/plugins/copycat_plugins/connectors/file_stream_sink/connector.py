"""FileStreamSink: as many tasks as are allowed, all appending to one file; under exactly-once only one."""

from __future__ import annotations

import time
from collections.abc import Mapping

from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.data import TopicPartition
from copycat_connect.plugin import ExactlyOnceSupport, SinkConnector

from copycat_plugins.connectors.file_stream_sink.exact_file import ExactFile
from copycat_plugins.connectors.file_stream_sink.settings import FILE, FileStreamSinkSettings
from copycat_plugins.connectors.file_stream_sink.taking import FileNames


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
        return ExactlyOnceSupport.SUPPORTED if config.get(FILE) else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets, and change those stored beside the file.

        What is written stays, what is read again is appended again.
        """
        path = config.get(FILE)
        exactly_once = guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE
        if path and (exactly_once or FileNames.of(path).journal.exists()):
            file = ExactFile(path, config.get("name", ""), _wait)
            try:
                file.move(offsets)
            finally:
                file.close()
        return True


def _wait(seconds: float) -> bool:
    time.sleep(seconds)
    return False
