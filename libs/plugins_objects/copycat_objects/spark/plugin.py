"""SparkSource as the engine finds it; Arrow is loaded where a task is made, not by a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.spark import settings
from copycat_objects.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.SparkSourceSettings.config_def(),
    factory="copycat_objects.spark.connector:SparkSourceConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_objects.spark.task:SparkFilesTask",
    guarantees=settings.GUARANTEES,
    tested_with="folders on Linux, HDFS 3.5.0, PostgreSQL, PySpark 4.3.0, "
    "pyiceberg 0.12 with a catalog in SQLite",
    examples=settings.EXAMPLES,
    on_spark=True,
)
