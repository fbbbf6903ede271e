"""MockSink as the engine finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.mock_sink import spec
from copycat_plugins.connectors.mock_sink.connector import MockSinkConnector
from copycat_plugins.connectors.mock_sink.task import MockSinkTask

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SINK,
    version=KAFKA_VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=MockSinkConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=MockSinkTask,
    guarantees=spec.GUARANTEES,
    tested_with="nothing",
    examples=spec.EXAMPLES,
)
