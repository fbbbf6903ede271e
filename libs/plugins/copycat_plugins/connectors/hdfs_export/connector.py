"""HDFSSink of KIP-26: the published HDFS sink's keys over the engine of all object sinks."""

from __future__ import annotations

from copycat_plugins.connectors.hdfs_export import spec
from copycat_plugins.connectors.objects.hdfs_connector import HdfsFilesConnector
from copycat_plugins.connectors.objects.task import ObjectSinkTask


class HDFSSinkConnector(HdfsFilesConnector):
    """Has its own definition of the keys."""

    definition = spec.CONFIG


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(HDFSSinkConnector.read)
