"""ObjectSource as the engine finds it; Arrow and Avro are loaded where one is made, not by a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.source import settings
from copycat_objects.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.ObjectSourceSettings.config_def(),
    factory="copycat_objects.source.connector:ObjectSourceConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_objects.source.task:ObjectSourceTask",
    guarantees=settings.GUARANTEES,
    tested_with="folders on Linux, HDFS 3.5.0 over WebHDFS, and S3 as moto simulates it",
    examples=settings.EXAMPLES,
)
