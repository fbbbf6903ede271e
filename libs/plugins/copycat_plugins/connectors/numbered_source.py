"""The part of Kafka's sources for tests that divides the work: tasks that differ in their number only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.config import ConfigDef
from copycat_connect.plugin import SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.numbered import check_offsets, numbered


class NumberedSource(SourceConnector):
    """Has as many tasks as are allowed."""

    definition: ConfigDef
    """The connector's keys."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        self.definition.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many configurations as are allowed, each with its number."""
        return numbered(self._config, max_tasks)

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any task's number with the number of its last record."""
        del config
        check_offsets(offsets)
        return True
