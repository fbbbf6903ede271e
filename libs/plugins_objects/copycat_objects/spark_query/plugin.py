"""SparkQuery as the engine finds it; Arrow is loaded where a task is made, not by a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.spark_query import settings
from copycat_objects.version import VERSION

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=VERSION,
    summary=settings.SUMMARY,
    config=settings.SparkQuerySettings.config_def(),
    factory="copycat_objects.spark_query.connector:SparkQueryConnector",
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory="copycat_objects.spark_query.task:SparkQueryTask",
    guarantees=settings.GUARANTEES,
    tested_with="Apache Kafka 4.4.0, PySpark 4.3.0, state in folders on Linux",
    examples=settings.EXAMPLES,
    on_spark=True,
)
