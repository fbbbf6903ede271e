"""SparkSink's connector: one task, whatever tasks.max is, since Spark divides the work."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.data import TopicPartition
from copycat_connect.plugin import ExactlyOnceSupport, SinkConnector

from copycat_objects.lakehouse.settings import ICEBERG, need_package
from copycat_objects.spark_sink.settings import DELTA, FILES, SparkSinkSettings
from copycat_objects.spark_sink.table_commits import TableCommits
from copycat_objects.stores.store import Store


class SparkSinkConnector(SinkConnector):
    """Checks configurations, and changes the positions that tables have."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        check(SparkSinkSettings.parse(config))
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the configuration of the one task; `tasks.max` says how many partitions write at once."""
        del max_tasks
        return [dict(self._config)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check single keys, and that the table's library is here; nothing is looked at in the store."""
        return SparkSinkSettings.config_def().validate_together(
            config, lambda: check(SparkSinkSettings.parse(config))
        )

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """The table has the positions."""
        del config
        return ExactlyOnceSupport.SUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets, and change those that the table has. Its rows stay as they are."""
        settings = SparkSinkSettings.parse(config)
        name = config.get("name") or ""
        with closing(settings.open_store()) as store, closing(open_table(settings, name, store)) as table:
            table.change(offsets)
        return True


def check(settings: SparkSinkSettings) -> None:
    """Accept settings that work together, if what commits the table is here.

    Raises:
        ConfigError: They do not, or a library is missing.
    """
    settings.check()
    if settings.format == DELTA:
        need_package(DELTA, "deltalake", "deltalake")


def open_table(settings: SparkSinkSettings, connector: str, store: Store) -> TableCommits:
    """Return the commits of a connector to its table in the settings' store; nothing is called yet."""
    if settings.format == ICEBERG:
        from copycat_objects.spark_sink.iceberg_commits import (  # noqa: PLC0415 - needs pyiceberg
            IcebergCommits,
            IcebergPlace,
        )

        return IcebergCommits(IcebergPlace.of(settings), connector, settings.partition_by)
    if settings.format in FILES:
        from copycat_objects.spark_sink.file_commits import FileCommits  # noqa: PLC0415 - needs pyarrow

        folder = settings.prefix.strip("/")
        return FileCommits(store, folder, settings.format, connector, settings.partition_by)
    from copycat_objects.spark_sink.delta_commits import (  # noqa: PLC0415 - needs deltalake
        DeltaCommits,
        TablePlace,
    )

    return DeltaCommits(TablePlace.of(settings), connector, settings.partition_by)
