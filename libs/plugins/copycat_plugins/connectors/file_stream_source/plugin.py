"""FileStreamSource as the engine finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.file_stream_source import spec
from copycat_plugins.connectors.file_stream_source.connector import FileStreamSourceConnector
from copycat_plugins.connectors.file_stream_source.task import FileStreamSourceTask

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=FileStreamSourceConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=FileStreamSourceTask,
    guarantees=spec.GUARANTEES,
    tested_with="files on Linux",
    examples=spec.EXAMPLES,
)
