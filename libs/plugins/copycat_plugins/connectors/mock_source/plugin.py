"""MockSource as the engine finds it."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_plugins.connectors.mock_source import spec
from copycat_plugins.connectors.mock_source.connector import MockSourceConnector
from copycat_plugins.connectors.mock_source.task import MockSourceTask

PLUGIN = PluginSpec(
    class_name=spec.CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=spec.SUMMARY,
    config=spec.CONFIG,
    factory=MockSourceConnector,
    task_class_name=spec.TASK_CLASS_NAME,
    task_factory=MockSourceTask,
    guarantees=spec.GUARANTEES,
    tested_with="nothing",
    examples=spec.EXAMPLES,
)
