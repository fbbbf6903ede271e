"""SparkQuery's connector: one task, whatever tasks.max is, since Spark divides the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_objects.spark_query.positions import check_move, effect_of
from copycat_objects.spark_query.settings import SparkQuerySettings


class SparkQueryConnector(SourceConnector):
    """Checks configurations and offsets."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        SparkQuerySettings.parse(config).check()
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the configuration of the one task; `tasks.max` says how many partitions work at once."""
        del max_tasks
        return [dict(self._config)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check single keys, and that they work together."""
        return SparkQuerySettings.config_def().validate_together(
            config, lambda: SparkQuerySettings.parse(config).check()
        )

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Topics can be read again from any record."""
        del config
        return ExactlyOnceSupport.SUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept offsets of topics, and of a query with state, which is dropped where it does not fit."""
        has_state = SparkQuerySettings.parse(config).state_url is not None
        for partition, offset in offsets:
            check_move(partition, offset, has_state=has_state)
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the records between two positions."""
        del config
        return [effect_of(move) for move in moves]
