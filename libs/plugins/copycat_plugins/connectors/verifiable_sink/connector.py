"""VerifiableSink: as many tasks as are allowed, each with a number."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.plugin import SinkConnector

from copycat_plugins.connectors.numbered import numbered


class VerifiableSinkConnector(SinkConnector):
    """Numbers its tasks."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many configurations as are allowed."""
        return numbered(self._config, max_tasks)

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""
