"""HdfsSink: the published HDFS sink's keys over the engine of all object sinks."""

from __future__ import annotations

from copycat_objects.hdfs_connector import HdfsFilesConnector
from copycat_objects.hdfs_keys import HdfsSettings
from copycat_objects.task import ObjectSinkTask


class HdfsSinkConnector(HdfsFilesConnector):
    """Has its own definition of the keys."""

    definition = HdfsSettings.config_def()


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(HdfsSinkConnector.read)
