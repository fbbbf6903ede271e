"""HdfsSink: the published HDFS sink's keys over the engine of all object sinks."""

from __future__ import annotations

from copycat_objects.connector import Config, FilesSinkConnector
from copycat_objects.hdfs.plugin import UNUSED, HdfsSettings
from copycat_objects.reading import LineOptions, gzip_level, sink_settings
from copycat_objects.settings import SinkSettings
from copycat_objects.stores.opening import open_store
from copycat_objects.task import ObjectSinkTask


class HdfsFilesConnector(FilesSinkConnector):
    """Reads those keys; derive from it to name the definition."""

    unused = UNUSED

    @classmethod
    def parse(cls, config: Config) -> HdfsSettings:
        """Return the settings that a configuration has for HDFS."""
        return HdfsSettings.parse(config)

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means."""
        settings = cls.parse(config)
        name, url = settings.address
        settings.check_hive()
        reach = settings.values_by_key()
        open_store(reach, url, name).close()
        return sink_settings(
            config.get("name") or "",
            lambda: open_store(reach, url, name),
            writing=settings.writing,
            rotation=settings.rotation,
            partitioning=settings.partitioning,
            lines=LineOptions(gzip_level(settings.compression_type)),
            logs_dir=settings.logs_dir,
            file_delimiter=settings.delimiters.file_delim,
        )


class HdfsSinkConnector(HdfsFilesConnector):
    """Has its own definition of the keys."""

    definition = HdfsSettings.config_def()


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(HdfsSinkConnector.read)
