"""FileStreamSink as the engine finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.file_stream_sink import spec
from copycat_plugins.connectors.file_stream_sink.connector import FileStreamSinkConnector
from copycat_plugins.connectors.file_stream_sink.task import FileStreamSinkTask

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=FileStreamSinkConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=FileStreamSinkTask,
    guarantees=spec.GUARANTEES,
    tested_with="files on Linux",
    examples=spec.EXAMPLES,
)
