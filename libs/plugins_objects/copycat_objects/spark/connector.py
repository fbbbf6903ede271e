"""SparkSource's connector: one task, whatever tasks.max is, since Spark divides the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_objects.lakehouse.settings import ICEBERG
from copycat_objects.source.positions import check_offset, check_partition, effect_of
from copycat_objects.source.settings import PATTERN
from copycat_objects.spark.followed_tables import check_table_offset
from copycat_objects.spark.key_ranges import TABLE, check_key_offset
from copycat_objects.spark.python_sources import check_part_offset, load_source
from copycat_objects.spark.settings import (
    ANY_PATH,
    DELTA,
    FORMATS,
    JDBC,
    SCHEMES,
    TABLES,
    SparkSourceSettings,
)
from copycat_objects.stores.keys import STORE_URL
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store


class SparkSourceConnector(SourceConnector):
    """Checks configurations; its task finds the files."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        _check(SparkSourceSettings.parse(config))
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the configuration of the one task; `tasks.max` says how many files Spark reads at once."""
        del max_tasks
        return [dict(self._config)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check single keys, and that Spark can read at the address; nothing is looked at there."""
        return SparkSourceSettings.config_def().validate_together(
            config, lambda: _check(SparkSourceSettings.parse(config)), key=STORE_URL
        )

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A file can be read again from any record."""
        del config
        return ExactlyOnceSupport.SUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any number of records of a file, any version of a table, and any plan of keys."""
        format_ = config.get("format")
        for partition, offset in offsets:
            if format_ == JDBC:
                check_key_offset(partition, offset)
            elif format_ is not None and format_ not in FORMATS:
                check_part_offset(partition, offset)
            elif partition is not None and TABLE in partition:
                check_table_offset(partition, offset, of_snapshots=format_ == ICEBERG)
            elif offset is not None:
                check_partition(partition)
                check_offset(offset)
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the records between two places of a file; those of tables are not known."""
        settings = SparkSourceSettings.parse(config)
        if settings.format == JDBC or settings.is_python:
            return [None for _ in moves]
        store = open_files(settings)
        try:
            return [None if TABLE in move.partition else effect_of(move, store.name) for move in moves]
        finally:
            store.close()


def _check(settings: SparkSourceSettings) -> None:
    """Accept settings that work together.

    Raises:
        ConfigError: They do not.
    """
    if settings.format == JDBC:
        settings.check_database()
        return
    if settings.is_python:
        load_source(settings.format)
        return
    open_files(settings).close()
    if settings.format in TABLES and settings.pattern != ANY_PATH:
        says = "log of a Delta" if settings.format == DELTA else "catalog of an Iceberg"
        raise ConfigError(
            f"Invalid value for configuration {PATTERN}: the {says} table says which files it has, so "
            "leave it out",
            key=PATTERN,
        )
    if settings.format == ICEBERG:
        settings.iceberg.check()


def open_files(settings: SparkSourceSettings) -> Store:
    """Open the store of a configuration; nothing is called yet.

    Raises:
        ConfigError: Spark needs further libraries to read there.
    """
    if not settings.store_url.strip():
        raise ConfigError(f"{STORE_URL} is needed: it says where the files are", key=STORE_URL)
    if not settings.store_url.strip().startswith(SCHEMES):
        raise ConfigError(
            f"Invalid value for configuration {STORE_URL}: expected file:///folder, hdfs://host:port/folder "
            "or webhdfs://host:port/folder, which Spark reads without further libraries. ObjectSource reads "
            "files in S3; have an engine of queries copy tables from there to a folder or to HDFS",
            key=STORE_URL,
        )
    return open_store(settings.values_by_key(), settings.store_url)
