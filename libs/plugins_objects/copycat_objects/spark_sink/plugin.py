"""SparkSink as the engine finds it; Arrow and the table's library are loaded where a task is made."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.spark_sink import settings
from copycat_objects.stores.errors import FAILURES
from copycat_objects.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.SparkSinkSettings.config_def(),
    factory="copycat_objects.spark_sink.connector:SparkSinkConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_objects.spark_sink.task:SparkTableTask",
    guarantees=settings.GUARANTEES,
    tested_with="folders on Linux, S3 as moto simulates it, Hadoop 3.5.0 (files), PySpark 4.3.0, "
    "deltalake 1.6, pyiceberg 0.12 with catalogs in SQLite and PostgreSQL",
    examples=settings.EXAMPLES,
    failures=FAILURES,
    on_spark=True,
)
