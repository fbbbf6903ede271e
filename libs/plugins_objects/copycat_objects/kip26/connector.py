"""HDFSSink of KIP-26: the published HDFS sink's keys over the engine of all object sinks."""

from __future__ import annotations

from copycat_objects.connector import Config
from copycat_objects.hdfs.connector import HdfsFilesConnector
from copycat_objects.hdfs.plugin import HdfsSettings
from copycat_objects.kip26.plugin import HdfsExportSettings
from copycat_objects.task import ObjectSinkTask


class HDFSSinkConnector(HdfsFilesConnector):
    """Has its own definition of the keys."""

    definition = HdfsExportSettings.config_def()

    @classmethod
    def parse(cls, config: Config) -> HdfsSettings:
        """Return the settings without that of the framework."""
        return HdfsExportSettings.parse(config).hdfs


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(HDFSSinkConnector.read)
