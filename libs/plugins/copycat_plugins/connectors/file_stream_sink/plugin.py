"""FileStreamSink as the engine finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.file_stream_sink import settings
from copycat_plugins.connectors.file_stream_sink.connector import FileStreamSinkConnector
from copycat_plugins.connectors.file_stream_sink.task import FileStreamSinkTask

PLUGIN = PluginSpec(
    class_name=settings.CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=settings.SUMMARY,
    config=settings.FileStreamSinkSettings.config_def(),
    factory=FileStreamSinkConnector,
    task_class_name=settings.TASK_CLASS_NAME,
    task_factory=FileStreamSinkTask,
    guarantees=settings.GUARANTEES,
    tested_with="files on Linux",
    examples=settings.EXAMPLES,
)
