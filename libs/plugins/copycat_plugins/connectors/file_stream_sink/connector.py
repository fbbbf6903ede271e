"""FileStreamSink: as many tasks as are allowed, all appending to one file."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data import TopicPartition
from copycat_connect.plugin import SinkConnector

from copycat_plugins.connectors.file_stream_sink.spec import CONFIG


class FileStreamSinkConnector(SinkConnector):
    """Gives every task the same configuration."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        CONFIG.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the connector's own configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets: what is written stays, what is read again is appended again."""
        del config, offsets
        return True
